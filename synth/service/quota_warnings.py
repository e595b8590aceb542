"""Tells tenants that a quota is nearly, or wholly, used up: once for each quota, period and share. A task calls it.

What a refused request says is told at once, by the request.
"""

import logging
from collections.abc import Iterable, Iterator
from datetime import UTC, date
from uuid import UUID

from cachetools import LRUCache
from django.db import DatabaseError, transaction
from django.db.models import Q, Sum
from django.utils import timezone

from synth.codec import utc
from synth.conf import conf
from synth.models import EventType
from synth.service.webhooks.events import note_event
from tenants.ids import public_id
from tenants.models import ApiKey, QuotaWarning, Tenant, UsageDay
from tenants.models.usage_day import NO_KEY
from tenants.quotas import (
    ASKED,
    DAY,
    KEY,
    MONTH,
    NAMES,
    NO_QUOTAS,
    PERIODS,
    SPOKEN,
    TENANT,
    QuotaState,
    begins,
    ends,
    quotas_of,
)
from tenants.types import TenantRef

logger = logging.getLogger(__name__)
SHARES = (80, 100)
CHARACTERS = (*ASKED, *SPOKEN)
MAX_REMEMBERED = 20_000
_told: LRUCache[tuple[object, ...], bool] = LRUCache(MAX_REMEMBERED)


def warn_of_quotas() -> None:
    """Of every tenant that used something today, and of its keys."""
    day = timezone.now().astimezone(UTC).date()
    active = UsageDay.objects.filter(day=day).order_by().values_list("tenant_id", flat=True).distinct()
    tenants = Tenant.objects.in_bulk(list(active))
    used = _used(list(tenants), day)
    for tenant in tenants.values():
        for key_id, state in _states(tenant, used):
            share = 100 * (state.used or 0) // state.limit
            for percent in SHARES:
                if share >= percent:
                    _warn(tenant.ref, key_id, state, percent=percent, day=day)


def warn_refused(tenant: TenantRef, key_id: UUID, state: QuotaState) -> None:
    """A request was refused: the quota is used up as far as requests fit into it. Never raises."""
    day = timezone.now().astimezone(UTC).date()
    if state.quota not in PERIODS:
        return
    try:
        _warn(tenant, key_id if state.scope == KEY else NO_KEY, state, percent=SHARES[-1], day=day)
    except DatabaseError:  # the task sees it once that is back
        logger.warning("the database is away: tenant %s is not told of its quota yet", tenant.id)


def _warn(tenant: TenantRef, key_id: UUID, state: QuotaState, *, percent: int, day: date) -> None:
    begun = begins(PERIODS[state.quota], day)
    told = (tenant.id, key_id, state.quota, begun, percent)
    if told in _told:
        return
    with transaction.atomic():
        warning, is_new = QuotaWarning.objects.get_or_create(
            tenant_id=tenant.id, api_key_id=key_id, quota=state.quota, begins=begun, percent=percent
        )
        if is_new:
            note_event(tenant, EventType.QUOTA_WARNING, public_id("qtw", warning.id), _data(warning, state, day))
    _told[told] = True


def _data(warning: QuotaWarning, state: QuotaState, day: date) -> dict[str, object]:
    return {
        "quota": state.quota,
        "scope": state.scope,
        "key": public_id("key", warning.api_key_id) if state.scope == KEY else None,
        "percent": warning.percent,
        "used": state.used,
        "limit": state.limit,
        "resets_at": utc(ends(PERIODS[state.quota], day)),
    }


def _used(tenant_ids: list[UUID], day: date) -> dict[tuple[UUID, UUID, str], int]:
    """By tenant, key and quota; the tenant's own sums are under NO_KEY."""
    rows = UsageDay.objects.filter(tenant_id__in=tenant_ids, day__range=(begins(MONTH, day), day), state="succeeded")
    sums = {
        name: Sum(column, filter=Q(day=day) if PERIODS[name] == DAY else Q(), default=0)
        for column, names in (("characters", ASKED), ("synthesised", SPOKEN))
        for name in names
    }
    found: dict[tuple[UUID, UUID, str], int] = {}
    for tenant_id, key_id, *amounts in rows.order_by().values_list("tenant_id", "api_key_id").annotate(**sums):
        for name, amount in zip(CHARACTERS, amounts, strict=True):
            for whose in {key_id, NO_KEY}:
                found[tenant_id, whose, name] = found.get((tenant_id, whose, name), 0) + amount
    return found


def _states(tenant: Tenant, used: dict[tuple[UUID, UUID, str], int]) -> Iterator[tuple[UUID, QuotaState]]:
    limits = [(NO_KEY, TENANT, quotas_of(tenant, conf().default_quotas))]
    with_any = Q()
    for name in CHARACTERS:
        with_any |= Q(**{f"{name}__gt": 0})
    keys: Iterable[ApiKey] = ApiKey.objects.filter(with_any, tenant=tenant)
    limits += [(key.id, KEY, quotas_of(key)) for key in keys]
    for key_id, scope, quotas in limits:
        for name in CHARACTERS if quotas is not NO_QUOTAS else ():
            limit = quotas[NAMES.index(name)]
            if limit:
                yield key_id, QuotaState(scope, name, limit, used.get((tenant.id, key_id, name), 0))
