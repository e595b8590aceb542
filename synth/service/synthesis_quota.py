"""Quotas of the characters that engines speak: reserved by the sentences that are open, settled by those that succeed.

A sentence is charged to the tenant, and to the key that asked first, once, however many wait for it. What is reserved
is what the open rows say, so that whatever ends one, or never lets it begin, gives it back. submission.py asks.
"""

from dataclasses import dataclass, field
from datetime import UTC
from uuid import UUID

from django.db.models import Q, Sum
from django.utils import timezone

from synth import codec
from synth.models import Synthesis
from synth.models.clock import database_now
from synth.models.locks import one_at_a_time
from synth.models.states import OPEN
from synth.types import Segment
from tenants.quota_use import Use, spoken_in_days
from tenants.quotas import KEY, SPOKEN, TENANT, QuotaExceeded, Quotas, QuotaState, exceeded
from tenants.types import Caller
from tenants.usage import add_spoken


@dataclass(frozen=True, slots=True)
class Charge:
    """To whom new sentences are charged; `opened` holds their characters by the ids of their rows."""

    api_key_id: UUID | None
    opened: dict[UUID, int] = field(default_factory=dict)


def require_room(caller: Caller, quotas: Quotas, *, characters: int) -> None:
    """Raise QuotaExceeded when the so many characters that this transaction has opened exceed a quota.

    To be asked last in the transaction that opens sentences: until it ends, no other of its tenant is let through here.
    """
    scopes = ((TENANT, quotas.spoken), (KEY, caller.quotas.spoken))
    limits = [(scope, *each) for scope, numbers in scopes for each in zip(SPOKEN, numbers, strict=True) if each[1]]
    if not limits:
        return
    one_at_a_time(f"synthesis of {caller.tenant.id}")
    used = spoken_so_far(caller.tenant.id, caller.key_id)
    states = [QuotaState(scope, quota, limit, used[scope, quota] - characters) for scope, quota, limit in limits]
    over = exceeded(states, characters)
    if over is not None:
        raise QuotaExceeded(over)


def spoken_so_far(tenant_id: UUID, key_id: UUID | None) -> Use:
    """What is settled, and what is reserved: that counts in the present day and month, whenever it was asked for.

    Reserved first: what is settled between the two is then counted twice, and never not at all.
    """
    of_key = Sum("characters", filter=Q(api_key_id=key_id), default=0)
    reserved = (
        Synthesis.objects.filter(tenant_id=tenant_id, state__in=OPEN)
        .order_by()
        .aggregate(tenant=Sum("characters", default=0), key=of_key)
    )
    settled = spoken_in_days(tenant_id, key_id, timezone.now().astimezone(UTC).date())
    return {(scope, quota): amount + reserved[scope] for (scope, quota), amount in settled.items()}


def settle(claim: Synthesis) -> None:
    """The sentence was spoken: called in the transaction that publishes it, which is fenced."""
    if not claim.characters:
        return
    manner = codec.from_json(Segment, claim.segment).manner
    add_spoken(
        claim.tenant_id,
        claim.api_key_id,
        day=database_now().astimezone(UTC).date(),
        engine=claim.engine,
        voice=manner.voice,
        characters=claim.characters,
    )
