"""Writes down once a minute how the whole is, so that a trend can be seen. The scheduler rings."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from synth.dashboard.state import COUNTED_EVERY, counted_storage, state
from synth.models import Sample
from synth.models.clock import database_now

# Two schedulers, or two bells at once, make one sample.
LEAST_PAUSE = timedelta(seconds=30)


def take_sample() -> Sample | None:
    """None where there is one of just now."""
    now = database_now()
    if Sample.objects.filter(at__gt=now - LEAST_PAUSE).exists():
        return None
    seen = state()
    return Sample.objects.create(
        at=now,
        values={
            "queues": {name: asdict(queue) for name, queue in seen.queues.items()},
            "redis": asdict(seen.redis) if seen.redis else None,
            "webhooks": dict(seen.webhooks),
            "storage": None if _is_counted(now) else counted_storage(),
        },
    )


def _is_counted(now: datetime) -> bool:
    lately: Any = Sample.objects.filter(at__gt=now - timedelta(minutes=COUNTED_EVERY - 1)).order_by("-at")
    return any(values.get("storage") for values in lately.values_list("values", flat=True)[:COUNTED_EVERY])


def samples(since: datetime) -> list[tuple[datetime, dict[str, Any]]]:
    """Those since then, the oldest first."""
    rows = Sample.objects.filter(at__gte=since).order_by("at")
    return list(rows.values_list("at", "values"))
