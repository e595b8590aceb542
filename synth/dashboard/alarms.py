"""What needs somebody, judged from figures, the state and the last samples. The admin says each in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import linear_regression, mean
from typing import Any

from django.db.models import Sum

from synth.dashboard.figures import Figures, Requests
from synth.dashboard.state import RedisState, State
from synth.missed import REASONS
from synth.models import MissDay, MissParameter, WebhookEndpoint
from synth.models.clock import database_now
from tenants.models import Tenant
from tenants.types import TenantRef

Samples = Sequence[tuple[datetime, Mapping[str, Any]]]
# Under this rate, of at least so many requests of today, or of yesterday and today.
LOW_HIT_RATE, ENOUGH_REQUESTS = 0.60, 200
FULL, NEARLY_FULL = 0.95, 0.80
FULL_WITHIN = timedelta(hours=24)
TREND_OF = timedelta(hours=6)
LEAST_SAMPLES = 10
SLOW_ROUND_TRIP = 0.010  # seconds
# A queue of so many that is longer by half than the mean of the minutes before the last.
LONG_QUEUE, GROWTH = 20, 1.5
QUEUE_BEFORE = (timedelta(minutes=5), timedelta(minutes=30))
NEAR_MISS_DAYS, MANY_NEAR_MISSES, NEAR_MISS_SHARE = 7, 50, 0.20
FAILING_FOR = timedelta(hours=1)
MOST_NAMED = 3


class Condition(StrEnum):
    """What may be wrong; the address of the rows behind it follows from it."""

    HIT_RATE = "hit_rate"
    REDIS_AWAY = "redis_away"
    MEMORY = "memory"
    REDIS_SLOW = "redis_slow"
    QUEUE = "queue"
    NEAR_MISSES = "near_misses"
    ENDPOINTS = "endpoints"


@dataclass(frozen=True, slots=True)
class Alarm:
    """`params` are what its words need."""

    condition: Condition
    params: Mapping[str, Any] = field(default_factory=dict)


def alarms(found: Figures, seen: State | None, samples: Samples, *, tenant: TenantRef | None = None) -> list[Alarm]:
    """Of one tenant only what is its own; `seen` is None then."""
    told = [*_hit_rate(found)]
    if seen is not None:
        told += [*redis_alarms(seen.redis, samples), *queue_alarms(seen, samples)]
    return [*told, *_near_misses(found, tenant), *_dead_endpoints(tenant)]


def _hit_rate(found: Figures) -> Iterator[Alarm]:
    lately = sum((found.requests[day] for day in found.days[-2:]), Requests())
    for counted in (found.requests[found.today], lately):
        if counted.looked_up >= ENOUGH_REQUESTS:
            rate = counted.hit_rate or 0.0
            if rate < LOW_HIT_RATE:
                yield Alarm(Condition.HIT_RATE, {"rate": round(100 * rate), "requests": counted.looked_up})
            return


def redis_alarms(redis: RedisState | None, samples: Samples) -> Iterator[Alarm]:
    """Pure."""
    if redis is None:
        yield Alarm(Condition.REDIS_AWAY)
        return
    slow = mean([redis.round_trip, *_round_trips(samples)])
    if slow > SLOW_ROUND_TRIP:
        yield Alarm(Condition.REDIS_SLOW, {"milliseconds": round(1000 * slow, 1)})
    if not redis.most:
        return
    share = redis.used / redis.most
    within = time_until_full(redis, samples)
    if share >= FULL or (share >= NEARLY_FULL and within is not None and within <= FULL_WITHIN):
        hours = None if within is None else max(1, round(within.total_seconds() / 3600))
        yield Alarm(Condition.MEMORY, {"share": round(100 * share), "hours": hours})


def _round_trips(samples: Samples) -> list[float]:
    """Of the last minutes: one slow answer is no trend."""
    return [values["redis"]["round_trip"] for _at, values in samples[-4:] if values.get("redis")]


def time_until_full(redis: RedisState, samples: Samples) -> timedelta | None:
    """As the last hours went on; None when they do not tell, or memory does not grow."""
    if not samples:
        return None
    last = samples[-1][0]
    points = [
        ((at - last).total_seconds(), values["redis"]["used"])
        for at, values in samples
        if values.get("redis") and last - at <= TREND_OF
    ]
    if len(points) < LEAST_SAMPLES:
        return None
    slope = linear_regression(*zip(*points, strict=True)).slope
    left = max(0, redis.most - redis.used)
    return timedelta(seconds=left / slope) if slope > 0 and left / slope < 1e9 else None


def queue_alarms(seen: State, samples: Samples) -> Iterator[Alarm]:
    """Pure but for the clock of the samples: the last one stands for now."""
    if not samples:
        return
    now = samples[-1][0]
    youngest, oldest = QUEUE_BEFORE
    for engine, queue in seen.queues.items():
        before = [
            values["queues"].get(engine, {}).get("waiting", 0)
            for at, values in samples
            if youngest <= now - at <= oldest and values.get("queues") is not None
        ]
        if before and queue.waiting >= LONG_QUEUE and queue.waiting > GROWTH * mean(before):
            yield Alarm(
                Condition.QUEUE, {"engine": engine, "waiting": queue.waiting, "minutes": round(queue.oldest / 60)}
            )


def _near_misses(found: Figures, tenant: TenantRef | None) -> Iterator[Alarm]:
    since = found.today - timedelta(days=NEAR_MISS_DAYS - 1)
    rows = MissDay.objects.filter(day__gte=since, **({"tenant_id": tenant.id} if tenant else {})).order_by()
    sums = rows.values_list("tenant_id").annotate(*(Sum(reason) for reason in REASONS))
    near = REASONS.index("near_miss")
    many = [
        (counts[near], tenant_id, sum(counts))
        for tenant_id, *counts in sums
        if counts[near] >= MANY_NEAR_MISSES and counts[near] >= NEAR_MISS_SHARE * sum(counts)
    ]
    for count, tenant_id, misses in sorted(many, key=lambda row: -row[0])[:MOST_NAMED]:
        parameters = MissParameter.objects.filter(tenant_id=tenant_id, day__gte=since).order_by()
        most = parameters.values_list("parameter").annotate(sum=Sum("misses")).order_by("-sum").first()
        yield Alarm(
            Condition.NEAR_MISSES,
            {
                "tenant": Tenant.objects.get(id=tenant_id),
                "near": count,
                "share": round(100 * count / misses),
                "parameter": most[0] if most else "",
            },
        )


def _dead_endpoints(tenant: TenantRef | None) -> Iterator[Alarm]:
    rows = WebhookEndpoint.objects.filter(**({"tenant_id": tenant.id} if tenant else {}))
    given_up = rows.filter(disabled_reason__in=(WebhookEndpoint.Reason.GONE, WebhookEndpoint.Reason.FAILING))
    failing = rows.filter(status=WebhookEndpoint.Status.ENABLED, failing_since__lt=database_now() - FAILING_FOR)
    counts = {"given_up": given_up.count(), "failing": failing.count()}
    if any(counts.values()):
        yield Alarm(Condition.ENDPOINTS, counts)
