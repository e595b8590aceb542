"""What is used of quotas of characters, as the sums by day tell. Services, API and admin read it."""

from datetime import date
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from tenants.models import UsageDay
from tenants.models.usage_day import SPOKEN
from tenants.quotas import ASKED, DAY, KEY, PERIODS, TENANT, begins
from tenants.quotas import SPOKEN as SPOKEN_QUOTAS

Use = dict[tuple[str, str], int]


def used_in_days(tenant_id: UUID, key_id: UUID | None, day: date) -> Use:
    """By scope and quota, on this day and in its month. What failed is not charged."""
    rows = UsageDay.objects.filter(tenant_id=tenant_id, day__range=(begins("month", day), day), state="succeeded")
    return _sums(rows, "characters", ASKED, key_id, day) | _sums(rows, "synthesised", SPOKEN_QUOTAS, key_id, day)


def spoken_in_days(tenant_id: UUID, key_id: UUID | None, day: date) -> Use:
    """The same of what engines spoke alone."""
    rows = UsageDay.objects.filter(tenant_id=tenant_id, day__range=(begins("month", day), day), outcome=SPOKEN)
    return _sums(rows, "synthesised", SPOKEN_QUOTAS, key_id, day)


def _sums(rows: QuerySet[UsageDay], column: str, quotas: tuple[str, ...], key_id: UUID | None, day: date) -> Use:
    wanted = {
        f"{scope}__{quota}": Sum(
            column,
            filter=(Q(day=day) if PERIODS[quota] == DAY else Q()) & (Q(api_key_id=key_id) if scope == KEY else Q()),
            default=0,
        )
        for scope in (TENANT, KEY)
        for quota in quotas
        if scope == TENANT or key_id is not None
    }
    found = rows.order_by().aggregate(**wanted)
    return {(name.split("__")[0], name.split("__")[1]): int(found[name]) for name in wanted}
