"""Quotas of the characters that are asked for: what Redis counts of them, begun, charged and given back by these.

`admission.py` asks within the one round trip; what comes another way, such as a line of a batch, is charged here.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django.db.models import Q, Sum
from django.utils import timezone

from synth import wiring
from synth.cache.asking import ASKED_OF, Asked
from synth.cache.store import AWAY
from synth.conf import conf
from synth.models import Job
from synth.models.states import OPEN, State
from tenants.limits import Admission
from tenants.local_quotas import Counted
from tenants.models import ApiKey, Tenant
from tenants.quota_use import Use, used_in_days
from tenants.quotas import KEY, NO_QUOTAS, PERIODS, QuotaExceeded, Quotas, QuotaState, begins, quotas_of
from tenants.types import Caller, TenantRef


def asked_of(characters: int, *, tenant: Quotas, key: Quotas) -> Asked | None:
    """What is to be counted; None where there is no quota of what is asked."""
    if (tenant is NO_QUOTAS and key is NO_QUOTAS) or not (any(tenant.asked) or any(key.asked)):
        return None
    return Asked(characters, tenant, key)


def counted(tenant: TenantRef, key: UUID, asked: Asked) -> list[Counted]:
    """Its counts, as this process keeps them while Redis is away."""
    day = timezone.now().astimezone(UTC).date()
    return [
        Counted(f"{tenant.id.hex} {name}", limit, begins(PERIODS[ASKED_OF[place][1]], day))
        for name, limit, place in asked.counts(key.hex)
    ]


def with_owed(tenant: TenantRef, key: UUID, asked: Asked) -> Asked:
    """With what this process let in while Redis was away."""
    if not wiring.local_quotas().stood_alone:  # as nearly always
        return asked
    owed = wiring.local_quotas().owed(counted(tenant, key, asked))
    places = [place for _, _, place in asked.counts(key.hex)]
    by_place = dict(zip(places, owed, strict=True))
    return asked._replace(owed=(by_place.get(0, 0), by_place.get(1, 0), by_place.get(2, 0), by_place.get(3, 0)))


def take_alone(tenant: TenantRef, key: UUID, asked: Asked) -> tuple[QuotaState, ...]:
    """Count them without Redis: what is left of this process's share. Raises QuotaExceeded."""

    def used() -> Sequence[int]:
        known = asked_so_far(tenant.id, key)
        return [known[ASKED_OF[place]] for _, _, place in counts]

    counts = asked.counts(key.hex)
    amounts, refusing = wiring.local_quotas().take(counted(tenant, key, asked), asked.characters, used=used)
    by_place = {place: amount for (_, _, place), amount in zip(counts, amounts, strict=True)}
    states = asked.states([by_place.get(place) for place in range(4)])
    if refusing is not None:
        raise QuotaExceeded(states[refusing])
    return states


def asked_so_far(tenant_id: UUID, key_id: UUID | None) -> Use:
    """As the database knows: the days' sums, and the jobs that are in none of them yet."""
    used = used_in_days(tenant_id, key_id, timezone.now().astimezone(UTC).date())
    unwritten = Job.objects.filter(
        Q(state__in=OPEN) | Q(ended_at__isnull=False, state=State.SUCCEEDED), tenant_id=tenant_id, accounted=False
    )
    of_key = Sum("characters", filter=Q(api_key_id=key_id), default=0)
    sums = unwritten.order_by().aggregate(tenant=Sum("characters", default=0), key=of_key)
    return {which: used.get(which, 0) + sums[which[0]] for which in ASKED_OF}


def counts_to_begin(tenant: TenantRef, key: UUID, asked: Asked) -> tuple[tuple[str, int, str, int], ...]:
    """The counts of these quotas as the cache begins them."""
    used, day = asked_so_far(tenant.id, key), timezone.now().astimezone(UTC).date()
    return tuple(
        (name, used[ASKED_OF[place]], key.hex if ASKED_OF[place][0] == KEY else "", _began(ASKED_OF[place][1], day))
        for name, _, place in asked.counts(key.hex)
    )


def charge(caller: Caller, asked: Asked, *, mark: str) -> int | None:
    """Count what comes another way than a look-up, once for each mark; -1 when counts are to be begun first.

    Raises QuotaExceeded.
    """
    counts = asked.counts(caller.key_id.hex)
    pairs = [(name, limit) for name, limit, _ in counts]
    answer = wiring.rendition_cache().charge(caller.tenant, pairs, characters=asked.characters, mark=mark)
    if answer == AWAY:
        take_alone(caller.tenant, caller.key_id, asked)
        return None
    if answer is None or answer < 0:
        return answer
    scope, quota = ASKED_OF[counts[answer][2]]
    used = asked_so_far(caller.tenant.id, caller.key_id)[scope, quota]
    raise QuotaExceeded(QuotaState(scope, quota, counts[answer][1], used))


def give_back(caller: Caller, asked: Asked, *, mark: str, at: datetime, admission: Admission | None = None) -> None:
    """What was asked came to nothing. `at` is when it was counted: of a day that is over nothing is given back."""
    if admission is not None and admission.degraded:
        wiring.local_quotas().give_back(counted(caller.tenant, caller.key_id, asked), asked.characters)
        return
    now, then = timezone.now().astimezone(UTC).date(), at.astimezone(UTC).date()
    running = [
        (name, limit)
        for name, limit, place in asked.counts(caller.key_id.hex)
        if begins(PERIODS[ASKED_OF[place][1]], now) == begins(PERIODS[ASKED_OF[place][1]], then)
    ]
    if running:
        wiring.rendition_cache().charge(caller.tenant, running, characters=-asked.characters, mark=f"back {mark}")


def give_back_failed(jobs: Iterable[Job]) -> None:
    """Of jobs that have ended without speech. Told twice of one, it gives back once."""
    known: dict[Any, Quotas] = {}
    for job in jobs:
        if job.api_key_id is None or job.state == State.SUCCEEDED:
            continue
        tenant = known.get(job.tenant_id) or known.setdefault(job.tenant_id, _quotas_of_tenant(job.tenant_id))
        key = known.get(job.api_key_id) or known.setdefault(job.api_key_id, _quotas_of_key(job.api_key_id))
        asked = asked_of(job.characters, tenant=tenant, key=key)
        if asked is not None:
            caller = Caller(TenantRef(job.tenant_id), job.api_key_id, frozenset())
            give_back(caller, asked, mark=job.id.hex, at=job.created_at)


def _quotas_of_tenant(tenant_id: UUID) -> Quotas:
    row = Tenant.objects.filter(id=tenant_id).first()
    return quotas_of(row, conf().default_quotas) if row else NO_QUOTAS


def _quotas_of_key(key_id: UUID) -> Quotas:
    row = ApiKey.objects.filter(id=key_id).first()
    return quotas_of(row) if row else NO_QUOTAS


def _began(quota: str, day: Any) -> int:
    return int(datetime.combine(begins(PERIODS[quota], day), time(), UTC).timestamp() * 1000)
