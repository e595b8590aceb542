"""Every change of a TTL rule. The admin calls these: each raises the versions of the tenants that it concerns."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from synth.models import Policy
from tenants.versions import raise_versions


@transaction.atomic
def save_policy(policy: Policy) -> Policy:
    """Add or change a rule; it acts on the next request everywhere. Raises ValidationError, by field."""
    policy.full_clean()
    before = list(Policy.objects.filter(id=policy.id).values_list("tenant_id", flat=True))
    policy.save()
    _raise_versions({*before, policy.tenant_id})
    return policy


@transaction.atomic
def delete_policies(policies: Iterable[Policy]) -> int:
    rows = list(policies)
    deleted, _ = Policy.objects.filter(id__in=[row.id for row in rows]).delete()
    _raise_versions({row.tenant_id for row in rows})
    return deleted


@transaction.atomic
def switch_policies(policies: Iterable[Policy], *, on: bool) -> int:
    """Switch rules on or off; how many were not so before."""
    rows = [row for row in policies if row.enabled is not on]
    for row in rows:
        row.enabled = on
        row.save(update_fields=["enabled", "updated_at"])
    _raise_versions({row.tenant_id for row in rows})
    return len(rows)


def _raise_versions(tenant_ids: set[UUID | None]) -> None:
    """A rule without a tenant concerns them all."""
    if tenant_ids:
        raise_versions(None if None in tenant_ids else [tenant_id for tenant_id in tenant_ids if tenant_id])
