"""How engine workers are: each tells a row of itself with its signs of life, operators and the API read them."""

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from synth import engine_time
from synth.engines.base import DeviceEngine, Engine
from synth.memory import resident
from synth.models import EngineWorker
from synth.models.clock import database_now

# Of a worker that was killed; one that ends in good order takes its row along.
KEPT_FOR = timedelta(days=1)
# What a worker's real-time factor is worked out from.
LAST_RUNS = 50
_runs: dict[str, deque["Run"]] = {}


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds that an engine took, and seconds of sound that it gave."""

    seconds: float
    audio: float


def note_run(engine: str, run: Run) -> None:
    """Kept in this process; `tell` tells of it."""
    _runs.setdefault(engine, deque(maxlen=LAST_RUNS)).append(run)


def real_time_factor(engine: str) -> float | None:
    """Engine time per time of sound of this process's last runs; None before the first one."""
    runs = list(_runs.get(engine, ()))
    audio = sum(run.audio for run in runs)
    return sum(run.seconds for run in runs) / audio if audio else None


def tell(worker: str, engine: Engine) -> None:
    """This worker lives, and has the engine in its memory."""
    _write(
        worker,
        engine.card.name,
        model_version=engine.card.model_version,
        loaded=True,
        device=engine.device if isinstance(engine, DeviceEngine) else "cpu",
        device_memory=engine.device_memory() if isinstance(engine, DeviceEngine) else 0,
        real_time_factor=real_time_factor(engine.card.name),
    )


def tell_unloaded(worker: str, engine: str) -> None:
    """This worker lives, and would load the engine for work."""
    _write(worker, engine, loaded=False, device_memory=0)


def tell_gone(worker: str) -> None:
    """This worker ends."""
    EngineWorker.objects.filter(name=worker).delete()


def workers(engine: str, model_version: str) -> QuerySet[EngineWorker]:
    """Those that told of themselves, the last one first."""
    return EngineWorker.objects.filter(engine=engine, model_version=model_version).order_by("-seen_at", "name")


def lately(today: datetime) -> dict[str, float]:
    """By engine, engine time per time of sound over seven days, with all its workers together."""
    week = engine_time.totals((today - timedelta(days=6)).date())
    return {name: use.engine_seconds / use.audio_seconds for name, use in week.items() if use.audio_seconds}


def _write(worker: str, engine: str, **told: object) -> None:
    now = database_now()
    EngineWorker.objects.filter(engine=engine, seen_at__lt=now - KEPT_FOR).delete()
    values = {"memory": resident(), "seen_at": now, **told}
    EngineWorker.objects.update_or_create(name=worker, engine=engine, defaults=values)
