"""TTL rules that a tenant makes itself, within the bounds that its operator has set. The API calls these.

The operator's rules for the tenant are not the tenant's to change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction

from synth.conf import conf
from synth.errors import InvalidSpeech, OperatorsPolicy, TooManyPolicies
from synth.fields import Fields
from synth.models import Policy
from synth.service.policies import delete_policies, save_policy
from tenants.errors import FieldProblem, NotFound
from tenants.errors import untranslated as _
from tenants.ids import new_id
from tenants.models import Tenant
from tenants.types import TenantRef

# What operators put below comes before anything that a tenant can say.
FIRST_PRIORITY = 100


@dataclass(frozen=True, slots=True)
class OwnPolicyBounds:
    """`most` rules, 0 for none; `longest` seconds of TTL, 0 for any, and then they may pin, too."""

    most: int
    longest: int

    @classmethod
    def of(cls, tenant: Tenant) -> "OwnPolicyBounds":
        most, longest = tenant.max_own_rules, tenant.max_own_ttl
        return cls(conf().max_own_rules if most is None else most, conf().max_own_ttl if longest is None else longest)


@transaction.atomic
def make_own_policy(tenant: TenantRef, columns: Mapping[str, Any], *, policy_id: UUID | None = None) -> Policy:
    """A new rule; it acts on the next request everywhere. The one that has `policy_id` already is given back.

    Raises InvalidSpeech, by field, and TooManyPolicies.
    """
    bounds = OwnPolicyBounds.of(Tenant.objects.select_for_update().get(id=tenant.id))
    rows = Policy.objects.filter(tenant_id=tenant.id, by_tenant=True)
    made = rows.filter(id=policy_id).first() if policy_id else None
    if made is not None:
        return made
    if rows.count() >= bounds.most:
        raise TooManyPolicies(params={"most": bounds.most})
    return _saved(Policy(id=policy_id or new_id(), tenant_id=tenant.id, by_tenant=True), columns, bounds)


@transaction.atomic
def replace_own_policy(tenant: TenantRef, policy: Policy, columns: Mapping[str, Any]) -> Policy:
    """All of the rule at once. Raises InvalidSpeech, OperatorsPolicy, and NotFound when it was deleted meanwhile."""
    bounds = OwnPolicyBounds.of(Tenant.objects.select_for_update().get(id=tenant.id))
    return _saved(_theirs(tenant, policy), columns, bounds)


@transaction.atomic
def delete_own_policy(tenant: TenantRef, policy: Policy) -> None:
    """Raises OperatorsPolicy, and NotFound when it was deleted meanwhile."""
    Tenant.objects.select_for_update().get(id=tenant.id)
    delete_policies([_theirs(tenant, policy)])


def _theirs(tenant: TenantRef, policy: Policy) -> Policy:
    row = Policy.objects.filter(tenant_id=tenant.id, id=policy.id).first()
    if row is None:
        raise NotFound
    if not row.by_tenant:
        raise OperatorsPolicy
    return row


def _saved(policy: Policy, columns: Mapping[str, Any], bounds: OwnPolicyBounds) -> Policy:
    for name, value in columns.items():
        setattr(policy, name, value)
    _refuse_beyond(policy, bounds)
    try:
        return save_policy(policy)
    except ValidationError as error:
        raise _told(error) from error


def _refuse_beyond(policy: Policy, bounds: OwnPolicyBounds) -> None:
    fields = Fields({})
    if policy.priority < FIRST_PRIORITY:
        message = _("Lower priorities are the operator's; yours begin at %(minimum)s.")
        allowed = {"minimum": FIRST_PRIORITY}
        fields.refuse("priority", "out_of_range", message, allowed=allowed, minimum=FIRST_PRIORITY)
    if bounds.longest:
        _refuse_longer(policy, bounds.longest, fields)
    fields.raise_if_wrong()


def _refuse_longer(policy: Policy, longest: int, fields: Fields) -> None:
    """However a sound comes to be served for longer, by the TTL, by being hot, or as the old one."""
    message = _("With this the rule keeps a sound for longer than the %(maximum)s seconds that your operator allows.")
    allowed = {"maximum": longest}
    if policy.pinned:
        fields.refuse("pinned", "out_of_range", message, allowed=allowed, maximum=longest)
    for name in ("max_age", "hot_ceiling"):
        if (getattr(policy, name) or 0) > longest:
            fields.refuse(name, "out_of_range", message, allowed=allowed, maximum=longest)
    served = max(policy.max_age or conf().cache_ttl, policy.hot_ceiling or 0)
    if policy.stale and served + policy.stale > longest and not fields.refused:
        fields.refuse("stale", "out_of_range", message, allowed=allowed, maximum=longest)


def _told(error: ValidationError) -> InvalidSpeech:
    """What the model refuses, in the API's shape."""
    by_field = error.error_dict if hasattr(error, "error_dict") else {"": error.error_list}
    fields = tuple(
        FieldProblem("" if name == "__all__" else name, str(item.code or "invalid"), " ".join(item.messages))
        for name, items in by_field.items()
        for item in items
    )
    return InvalidSpeech(fields=fields)
