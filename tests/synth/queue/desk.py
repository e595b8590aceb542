"""Orders, workers and rounds of work for the tests of the queue: real rows, the counting engine, no processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.db import connection

from synth.keys import rendition_key
from synth.models import Job, Rendering, Synthesis
from synth.models.states import Priority
from synth.queue.claim import Worker, claim_rendering, claim_synthesis
from synth.service.rendering import render
from synth.service.submission import submit
from synth.service.synthesis import synthesize
from synth.service.webhooks.callbacks import Callback
from synth.spec import SpeechRequest
from synth.types import CacheMode, Manner, Output, Spec
from tests.engines.counting import NAME, CountingEngine, runs
from tests.world import Member

VERSION = "counting-1"
WORKER = Worker("desk", lease=15)
OTHER = Worker("other", lease=15)


def spec(text: str, *, output: str = "wav", engine: str = NAME, version: str = VERSION) -> Spec:
    manner = Manner(
        engine=engine,
        model_version=version,
        voice="counting_a",
        voice_fingerprint="fingerprint-of-counting_a",
        language="en",
        normaliser=1,
        splitter=1,
    )
    return Spec(manner, text, Output(format=output, sample_rate=24_000, bitrate=None, loudness=-16, pause_ms=250))


def order(
    member: Member,
    text: str,
    *,
    cache: CacheMode = CacheMode.USE,
    priority: int = Priority.INTERACTIVE,
    callback: Callback | None = None,
    **parts: str,
) -> Job:
    """A job for this text, as a request that missed the cache would make it."""
    request = SpeechRequest(spec=spec(text, **parts), cache=cache)
    key = rendition_key(request.spec)
    named = {"request_id": "test", "priority": priority, "callback": callback}
    return submit(member.caller, request, key=key, max_units=400, **named)


def claim(worker: Worker = WORKER, *, engine: str = NAME, version: str = VERSION) -> Synthesis | None:
    return claim_synthesis(engine, version, worker)


def speak_one(engine: CountingEngine) -> Synthesis:
    claimed = claim()
    assert claimed is not None, "there is nothing to speak"
    synthesize(claimed, engine)
    claimed.refresh_from_db()
    return claimed


def speak_all(engine: CountingEngine) -> int:
    spoken = 0
    while (claimed := claim()) is not None:
        synthesize(claimed, engine)
        spoken += 1
    return spoken


def render_all() -> int:
    rendered = 0
    while (claimed := claim_rendering(WORKER)) is not None:
        render(claimed)
        rendered += 1
    return rendered


def work(engine: CountingEngine) -> None:
    """Speak and render until nothing may be claimed any more."""
    while speak_all(engine) + render_all():
        pass


def said(log: Path) -> list[str]:
    """The sentences that the engine was run for, in order."""
    return [run["text"] for run in runs(log)]


def states(rows: type[Job | Rendering | Synthesis]) -> list[str]:
    return sorted(rows.objects.values_list("state", flat=True))  # type: ignore[attr-defined]


def at_once(calls: Sequence[Callable[[], Any]], *, seconds: float = 60.0) -> list[Any]:
    """Run each call in a thread with a database connection of its own, all from one moment; results or exceptions."""
    barrier = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(number: int) -> None:
        barrier.wait(seconds)
        try:
            results[number] = calls[number]()
        except Exception as error:
            results[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return results


def somebody_waits() -> bool:
    """For a lock. For that of the whole of SQLite nobody can see who waits."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])
