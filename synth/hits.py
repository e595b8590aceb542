"""How many requests the cache answered, by day and engine, as the usage table tells.

A day that is over is summed up once (`count_finished_days`, by a task), since usage has a row for each request.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from synth.models import CountedDay, EngineDay
from tenants.models import Tenant, Usage
from tenants.types import TenantRef

# `stale` is a hit too: the old sound was served, and made anew behind the answer.
FROM_CACHE = ("hit", "stale", "restored")
# Hits reach the database within seconds, but later when it, or Redis, was away.
LATE = timedelta(hours=3)
DAYS_AT_ONCE = 31
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    hits: int = 0
    characters: int = 0


def hits_by_day(first: date, last: date, *, tenant: TenantRef | None = None) -> dict[tuple[date, str], Hits]:
    """Of one tenant, or of all; days are UTC, both ends included."""
    counted = set(CountedDay.objects.filter(day__range=(first, last)).values_list("day", flat=True))
    rows = EngineDay.objects.filter(day__in=counted, hits__gt=0).order_by().values_list("day", "engine")
    rows = rows if tenant is None else rows.filter(tenant_id=tenant.id)
    sums = list(rows.annotate(Sum("hits"), Sum("hit_characters")))
    for begin, end in _spans(first, last, without=counted):
        live = _from_cache(begin, end).annotate(day=TruncDate("at", tzinfo=UTC))
        sums += _sums(live if tenant is None else live.filter(tenant_id=tenant.id), "day", "engine")
    return {(day, engine): Hits(hits=hits, characters=characters) for day, engine, hits, characters in sums}


def count_finished_days() -> int:
    """Sum up the days that are over and not counted yet, some at a time; how many were."""
    oldest = Usage.objects.order_by("at").values_list("at", flat=True).first()
    last = (timezone.now() - LATE).date() - ONE_DAY
    if oldest is None or oldest.date() > last:
        return 0
    counted = set(CountedDay.objects.values_list("day", flat=True))
    days = [day for begin, end in _spans(oldest.date(), last, without=counted) for day in _days(begin, end)]
    return sum(_count(day) for day in days[:DAYS_AT_ONCE])


@transaction.atomic
def _count(day: date) -> bool:
    _, is_new = CountedDay.objects.get_or_create(day=day)
    if not is_new:
        return False
    known = set(Tenant.objects.values_list("id", flat=True))  # usage outlives its tenant
    rows = [
        EngineDay(tenant_id=tenant_id, engine=engine, day=day, hits=hits, hit_characters=characters)
        for tenant_id, engine, hits, characters in _sums(_from_cache(day, day), "tenant_id", "engine")
        if tenant_id in known
    ]
    EngineDay.objects.bulk_create(
        rows,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["tenant", "engine", "day"],
        update_fields=["hits", "hit_characters"],
    )
    return True


def requests_by_tenant(day: date) -> dict[str, dict[str, int]]:
    """Slug -> outcome -> requests of this day."""
    counted: dict[str, dict[str, int]] = {}
    for slug, outcome, count, _ in _sums(_between(day, day), "tenant__slug", "outcome"):
        counted.setdefault(slug or "", {})[outcome] = count
    return counted


def _from_cache(first: date, last: date) -> QuerySet[Usage]:
    return _between(first, last).filter(outcome__in=FROM_CACHE)


def _between(first: date, last: date) -> QuerySet[Usage]:
    begins, ends = (datetime.combine(day, time(), UTC) for day in (first, last + ONE_DAY))
    return Usage.objects.filter(at__gte=begins, at__lt=ends)


def _sums(rows: QuerySet[Usage], *names: str) -> Iterable[Any]:
    return rows.order_by().values_list(*names).annotate(Sum("count"), Sum("characters"))


def _spans(first: date, last: date, *, without: set[date]) -> Iterator[tuple[date, date]]:
    """The stretches of days between the two that are not among `without`."""
    begin: date | None = None
    for day in _days(first, last + ONE_DAY):
        if day in without or day > last:
            if begin is not None:
                yield begin, day - ONE_DAY
            begin = None
        elif begin is None:
            begin = day


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]
