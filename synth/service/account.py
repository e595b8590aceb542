"""What a tenant is allowed: its own settings, and the platform's where it has none. `GET /v1/tenant` tells it."""

from dataclasses import dataclass

from synth.conf import conf
from synth.models import VoiceSettings
from synth.service.own_policies import OwnPolicyBounds
from tenants.limits import limit_of
from tenants.models import Tenant
from tenants.quotas import Quotas, quotas_of
from tenants.types import Limit, TenantRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """None and 0 are no limit, but of `policies.most`. `default_ttl` is in seconds; `quotas` are the tenant's alone."""

    row: Tenant
    limit: Limit | None
    max_open_jobs: int
    max_running: int
    quotas: Quotas
    policies: OwnPolicyBounds
    default_ttl: int
    time_stretch: bool


def account_of(tenant: TenantRef) -> Account:
    row = Tenant.objects.get(id=tenant.id)
    return Account(
        row=row,
        limit=limit_of(row.rate_limit, row.rate_burst, default=conf().default_limit),
        max_open_jobs=conf().max_open_jobs if row.max_open_jobs is None else row.max_open_jobs,
        max_running=conf().max_running if row.max_running is None else row.max_running,
        quotas=quotas_of(row, conf().default_quotas),
        policies=OwnPolicyBounds.of(row),
        default_ttl=conf().cache_ttl,
        time_stretch=VoiceSettings.objects.filter(tenant=row, time_stretch=True).exists(),
    )
