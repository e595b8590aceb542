"""Quotas of bytes: room for what is to be kept is reserved before it is published. Workers and voices.py ask.

What is kept is measured now and then, and what is added in between is counted: so what is purged makes room.
"""

from datetime import timedelta
from uuid import UUID

from cachetools import TTLCache
from django.db import transaction
from django.db.models import F, QuerySet, Sum

from synth.conf import conf
from synth.models import ClonedVoice, Entry, StorageUse
from synth.models.clock import database_now
from synth.models.states import State
from tenants.models import ApiKey, Tenant
from tenants.models.usage_day import NO_KEY
from tenants.quotas import KEY, NO_QUOTAS, TENANT, Quotas, QuotaState, quotas_of

MEASURED_FOR = timedelta(seconds=60)
MEASURED_AGAIN = timedelta(seconds=5)  # before something is refused
MAX_REMEMBERED = 20_000
_quotas: TTLCache[tuple[UUID, UUID | None], tuple[Quotas, Quotas]] = TTLCache(MAX_REMEMBERED, ttl=5)


def quotas_now(tenant_id: UUID, key_id: UUID | None) -> tuple[Quotas, Quotas]:
    """The tenant's and the key's."""
    tenant = Tenant.objects.filter(id=tenant_id).first()
    key = ApiKey.objects.filter(id=key_id).first() if key_id else None
    own = quotas_of(tenant, conf().default_quotas) if tenant else NO_QUOTAS
    return own, quotas_of(key) if key else NO_QUOTAS


def has_room(tenant_id: UUID, key_id: UUID | None, size: int) -> bool:
    """Whether so many bytes may be kept, for workers: those are then counted. A changed quota acts within seconds."""
    known = _quotas.get((tenant_id, key_id))
    if known is None:
        known = _quotas[tenant_id, key_id] = quotas_now(tenant_id, key_id)
    return reserve(tenant_id, key_id, size, quotas=known) is None


def reserve(tenant_id: UUID, key_id: UUID | None, size: int, *, quotas: tuple[Quotas, Quotas]) -> QuotaState | None:
    """Count so many bytes more, or say which quota refuses them: then nothing is counted."""
    if not quotas[0].max_storage and not quotas[1].max_storage:  # as nearly always
        return None
    with transaction.atomic():
        return _reserve(tenant_id, key_id, size, quotas=quotas)


def _reserve(tenant_id: UUID, key_id: UUID | None, size: int, *, quotas: tuple[Quotas, Quotas]) -> QuotaState | None:
    limits = [(TENANT, NO_KEY, quotas[0].max_storage), (KEY, key_id or NO_KEY, quotas[1].max_storage)]
    taken: list[UUID] = []
    for scope, whose, limit in limits:
        if not limit:
            continue
        if not _take(tenant_id, whose, size, limit):
            used = StorageUse.objects.get(tenant_id=tenant_id, api_key_id=whose).size
            for other in taken:
                StorageUse.objects.filter(tenant_id=tenant_id, api_key_id=other).update(size=F("size") - size)
            return QuotaState(scope, "max_storage", limit, used)
        taken.append(whose)
    return None


def stored_bytes(tenant_id: UUID, key_id: UUID = NO_KEY) -> int:
    """What is kept at this moment: sentences, renditions, and uploads of voices."""
    of = {"tenant_id": tenant_id} if key_id == NO_KEY else {"tenant_id": tenant_id, "api_key_id": key_id}
    sizes = Entry.objects.filter(**of).order_by().aggregate(size=Sum("size", default=0))
    return int(sizes["size"]) + sum(voices_of(tenant_id, key_id).values_list("upload_size", flat=True))


def voices_of(tenant_id: UUID, key_id: UUID = NO_KEY) -> QuerySet[ClonedVoice]:
    """Its voices, and the uploads that are to become some."""
    rows = ClonedVoice.objects.filter(tenant_id=tenant_id, same_as=None).exclude(
        state__in=[State.FAILED, State.CANCELED]
    )
    return rows if key_id == NO_KEY else rows.filter(api_key_id=key_id)


def _take(tenant_id: UUID, whose: UUID, size: int, limit: int) -> bool:
    for longest in (MEASURED_FOR, MEASURED_AGAIN):
        _measure(tenant_id, whose, longest)
        row = StorageUse.objects.filter(tenant_id=tenant_id, api_key_id=whose)
        if row.filter(size__lte=limit - size).update(size=F("size") + size):
            return True
    return False


def _measure(tenant_id: UUID, whose: UUID, longest: timedelta) -> None:
    """Unless that was done within this time."""
    now = database_now()
    row = StorageUse.objects.filter(tenant_id=tenant_id, api_key_id=whose)
    if row.filter(measured_at__gt=now - longest).exists():
        return
    size = stored_bytes(tenant_id, whose)
    StorageUse.objects.update_or_create(
        tenant_id=tenant_id, api_key_id=whose, defaults={"size": size, "measured_at": now}
    )
