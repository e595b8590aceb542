"""What a tenant used, for API and admin: its rows, and their sums by day. `service/accounting.py` writes them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from tenants.models import Usage
from tenants.models.usage import GAP
from tenants.types import TenantRef

OUTCOMES = ("hit", "stale", "restored", "miss", "refresh", "bypass", GAP)
FROM_CACHE = ("hit", "stale", "restored", GAP)
FILTERS = {"outcome": "outcome", "after": "at__gt", "before": "at__lt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DayUsed:
    """One day in UTC. `lost` of its requests are known by number only; they were hits."""

    day: date
    requests: int = 0
    from_cache: int = 0
    characters: int = 0
    duration: float = 0.0
    lost: int = 0


def usage(tenant: TenantRef, **filters: object) -> QuerySet[Usage]:
    """The tenant's rows, the newest first; `filters` are the names of FILTERS."""
    wanted = {FILTERS[name]: value for name, value in filters.items()}
    return Usage.objects.filter(tenant_id=tenant.id, **wanted).order_by("-at", "-id")


def usage_by_day(tenant: TenantRef, first: date, last: date) -> list[DayUsed]:
    """Every day of the span, both ends included."""
    begins, ends = (datetime.combine(day, time(), UTC) for day in (first, last + timedelta(days=1)))
    rows = Usage.objects.filter(tenant_id=tenant.id, at__gte=begins, at__lt=ends).order_by()
    sums = rows.annotate(day=TruncDate("at", tzinfo=UTC)).values_list("day")
    found = sums.annotate(
        Sum("count"),
        from_cache=Sum("count", filter=Q(outcome__in=FROM_CACHE), default=0),
        characters_sum=Sum("characters"),
        duration_sum=Sum("duration", default=0.0),
        lost=Sum("count", filter=Q(outcome=GAP), default=0),
    )
    used = {row[0]: _day_used(*row) for row in found}
    return [used.get(day) or DayUsed(day=day) for day in _days(first, last)]


def _day_used(day: date, *sums: float) -> DayUsed:
    requests, from_cache, characters, duration, lost = sums
    return DayUsed(
        day=day,
        requests=int(requests),
        from_cache=int(from_cache),
        characters=int(characters),
        duration=round(duration, 3),
        lost=int(lost),
    )


def _days(first: date, last: date) -> Iterable[date]:
    return (first + timedelta(days=number) for number in range((last - first).days + 1))
