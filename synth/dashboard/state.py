"""How the parts are at this moment: queues, Redis, storage, webhooks. Asked for the page and for each sample."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from django.db.models import Count, Sum
from prometheus_client.core import Metric
from redis import RedisError

from synth import census, wiring
from synth.models import DiscardedObject, Entry, Sample

PINGS = 5
# The catalogue is counted for every so many samples: it is large.
COUNTED_EVERY = 15


@dataclass(frozen=True, slots=True)
class EngineQueue:
    """Sentences that wait for an engine and that it has in hand; seconds that the oldest has waited."""

    waiting: int = 0
    running: int = 0
    oldest: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisState:
    """Bytes and seconds; `most` is 0 where Redis may use all that there is."""

    used: int
    most: int
    evicted: int
    round_trip: float


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """`redis` is None while it does not answer. `storage` is what the last sample knows of the catalogue."""

    queues: Mapping[str, EngineQueue]
    renditions: EngineQueue
    redis: RedisState | None
    webhooks: Mapping[str, float]
    storage: Mapping[str, float] = field(default_factory=dict)


def state() -> State:
    """As it is now."""
    queue, hooks = _told(census.queue()), _told(census.webhooks())
    return State(
        queues=_queues(queue),
        renditions=EngineQueue(
            waiting=int(queue["refrain_renderings_queued"].get((), 0)),
            oldest=queue["refrain_renderings_oldest_seconds"].get((), 0.0),
        ),
        redis=_redis(),
        webhooks={
            **{labels[0]: count for labels, count in hooks["refrain_webhook_endpoints"].items()},
            "due": hooks["refrain_webhooks_due"].get((), 0),
            "oldest": hooks["refrain_webhooks_oldest_seconds"].get((), 0.0),
        },
        storage=_last_known_storage(),
    )


def counted_storage() -> dict[str, float]:
    """Counts whole tables: for samples alone, and not for each."""
    kept = Entry.objects.order_by().aggregate(bytes=Sum("size", default=0), entries=Count("id"))
    return {**kept, "discarded": DiscardedObject.objects.count()}


def _last_known_storage() -> Mapping[str, float]:
    found = Sample.objects.order_by("-at").values_list("values", flat=True)[: COUNTED_EVERY + 1]
    known: Iterable[Mapping[str, float]] = (values["storage"] for values in found if values.get("storage"))
    return next(iter(known), {})


def _queues(told: Mapping[str, Mapping[tuple[str, ...], float]]) -> dict[str, EngineQueue]:
    """By engine, all classes of work together."""
    found: dict[str, EngineQueue] = {}
    oldest = told["refrain_queue_oldest_seconds"]
    running = told["refrain_queue_running"]
    for labels in {**told["refrain_queue_depth"], **running}:
        before = found.get(labels[0], EngineQueue())
        found[labels[0]] = EngineQueue(
            waiting=before.waiting + int(told["refrain_queue_depth"].get(labels, 0)),
            running=before.running + int(running.get(labels, 0)),
            oldest=max(before.oldest, oldest.get(labels, 0.0)),
        )
    return dict(sorted(found.items()))


def _redis() -> RedisState | None:
    try:
        told = _told(census.redis())
        client: Any = wiring.redis_unless_away()
        round_trip = median(_timed(client.ping) for _ in range(PINGS))
    except (RedisError, OSError):
        return None
    return RedisState(
        used=int(told["refrain_l2_bytes"][()]),
        most=int(told["refrain_l2_max_bytes"][()]),
        evicted=int(told["refrain_redis_evicted_keys"][()]),
        round_trip=round_trip,
    )


def _timed(call: Any) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _told(families: Iterable[Metric]) -> dict[str, dict[tuple[str, ...], float]]:
    """What a part of the census says, by name and labels."""
    return {
        family.name: {tuple(sample.labels.values()): sample.value for sample in family.samples} for family in families
    }
