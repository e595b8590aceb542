"""What is used of all quotas of a tenant and of a key, for the API and the admin."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.utils import timezone

from synth.conf import conf
from synth.service.quotas import asked_so_far
from synth.service.storage_use import stored_bytes, voices_of
from synth.service.synthesis_quota import spoken_so_far
from tenants.models import ApiKey, Tenant
from tenants.models.usage_day import NO_KEY
from tenants.quotas import KEY, NAMES, NO_QUOTAS, PERIODS, TENANT, ends, quotas_of
from tenants.types import Caller


@dataclass(frozen=True, slots=True)
class QuotaUsed:
    """`limit` is 0 where there is none; `resets_at` is None for what has no period."""

    scope: str
    quota: str
    limit: int
    used: int
    resets_at: datetime | None


def quotas_used(caller: Caller) -> list[QuotaUsed]:
    """By the database: what was asked in the last second or two may be missing."""
    tenant_id, key_id = caller.tenant.id, caller.key_id
    used = asked_so_far(tenant_id, key_id) | spoken_so_far(tenant_id, key_id) | _kept(tenant_id, key_id)
    tenant = Tenant.objects.filter(id=tenant_id).first()
    key = ApiKey.objects.filter(id=key_id).first()
    limits = {
        TENANT: quotas_of(tenant, conf().default_quotas) if tenant else NO_QUOTAS,
        KEY: quotas_of(key) if key else NO_QUOTAS,
    }
    day = timezone.now().astimezone(UTC).date()
    return [
        QuotaUsed(
            scope,
            name,
            limits[scope][place],
            used[scope, name],
            ends(PERIODS[name], day) if name in PERIODS else None,
        )
        for scope in (TENANT, KEY)
        for place, name in enumerate(NAMES)
    ]


def _kept(tenant_id: UUID, key_id: UUID) -> dict[tuple[str, str], int]:
    whose = ((TENANT, NO_KEY), (KEY, key_id))
    voices = {(scope, "max_voices"): voices_of(tenant_id, key).count() for scope, key in whose}
    return voices | {(scope, "max_storage"): stored_bytes(tenant_id, key) for scope, key in whose}
