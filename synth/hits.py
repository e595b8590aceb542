"""How many requests the cache answered, by day and engine, as the usage table tells."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import QuerySet, Sum
from django.db.models.functions import TruncDate

from tenants.models import Usage
from tenants.types import TenantRef

# `stale` is a hit too: the old sound was served, and made anew behind the answer.
FROM_CACHE = ("hit", "stale", "restored")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    hits: int = 0
    characters: int = 0


def hits_by_day(first: date, last: date, *, tenant: TenantRef | None = None) -> dict[tuple[date, str], Hits]:
    """Of one tenant, or of all; days are UTC, both ends included."""
    rows = _between(first, last).filter(outcome__in=FROM_CACHE).annotate(day=TruncDate("at", tzinfo=UTC))
    rows = rows if tenant is None else rows.filter(tenant_id=tenant.id)
    return {(day, engine): Hits(hits=hits, characters=said) for day, engine, hits, said in _sums(rows, "day", "engine")}


def requests_by_tenant(day: date) -> dict[str, dict[str, int]]:
    """Slug -> outcome -> requests of this day."""
    counted: dict[str, dict[str, int]] = {}
    for slug, outcome, count, _ in _sums(_between(day, day), "tenant__slug", "outcome"):
        counted.setdefault(slug or "", {})[outcome] = count
    return counted


def _between(first: date, last: date) -> QuerySet[Usage]:
    begins, ends = (datetime.combine(day, time(), UTC) for day in (first, last + timedelta(days=1)))
    return Usage.objects.filter(at__gte=begins, at__lt=ends)


def _sums(rows: QuerySet[Usage], *names: str) -> Iterable[Any]:
    return rows.order_by().values_list(*names).annotate(Sum("count"), Sum("characters"))
