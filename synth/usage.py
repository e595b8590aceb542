"""What a tenant used, for API and admin: its rows, and their sums by day. `service/accounting.py` writes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Q, QuerySet, Sum

from tenants.models import Usage, UsageDay
from tenants.models.usage import GAP
from tenants.types import TenantRef

OUTCOMES = ("hit", "stale", "restored", "miss", "refresh", "bypass", GAP)
FROM_CACHE = ("hit", "stale", "restored", GAP)
GROUPS = {"day": "day", "key": "api_key_id", "engine": "engine", "voice": "voice"}
SUMS = {
    "requests_sum": Sum("requests"),
    "from_cache": Sum("requests", filter=Q(outcome__in=FROM_CACHE), default=0),
    "characters_sum": Sum("characters"),
    "synthesised_sum": Sum("synthesised"),
    "seconds_sum": Sum("seconds"),
    "lost": Sum("requests", filter=Q(outcome=GAP), default=0),
}
FILTERS = {"outcome": "outcome", "after": "at__gt", "before": "at__lt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DayUsed:
    """One day in UTC. `lost` of its requests are known by number only; they were hits. `synthesised` are the characters

    that engines spoke.
    """

    day: date
    requests: int = 0
    from_cache: int = 0
    characters: int = 0
    synthesised: int = 0
    duration: float = 0.0
    lost: int = 0


def usage(tenant: TenantRef, **filters: object) -> QuerySet[Usage]:
    """The tenant's rows, the newest first; `filters` are the names of FILTERS."""
    wanted = {FILTERS[name]: value for name, value in filters.items()}
    return Usage.objects.filter(tenant_id=tenant.id, **wanted).order_by("-at", "-id")


def usage_by_day(tenant: TenantRef, first: date, last: date) -> list[DayUsed]:
    """Every day of the span, both ends included."""
    used = {row[0]: _day_used(*row) for row in usage_by(tenant, first, last, names=["day"])}
    return [used.get(day) or DayUsed(day=day) for day in _days(first, last)]


def usage_by(tenant: TenantRef, first: date, last: date, *, names: Sequence[str]) -> QuerySet[UsageDay, Any]:
    """Sums of the span, both ends included, by these of GROUPS: their columns, then SUMS."""
    rows = UsageDay.objects.filter(tenant_id=tenant.id, day__range=(first, last))
    columns = [GROUPS[name] for name in names]
    return rows.order_by(*columns).values_list(*columns).annotate(**SUMS)


def _day_used(day: date, *sums: float) -> DayUsed:
    requests, from_cache, characters, synthesised, duration, lost = sums
    return DayUsed(
        day=day,
        requests=int(requests),
        from_cache=int(from_cache),
        characters=int(characters),
        synthesised=int(synthesised),
        duration=round(duration, 3),
        lost=int(lost),
    )


def _days(first: date, last: date) -> Iterable[date]:
    return (first + timedelta(days=number) for number in range((last - first).days + 1))
