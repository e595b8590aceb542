"""Lets a request in by its rate limits and looks it up: one round trip, and what stands in for it. speaking.py asks."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from synth import wiring
from synth.cache.asking import SETTLED, Asked, Gate, Lookup, Status, Wanted
from synth.cache.policy import Retention
from synth.cache.usage_stream import AuditPart, Request
from synth.keys import Kind, redis_key
from synth.models.prepared import prepared_rows
from synth.service.accounting import today
from synth.service.purging import follow_purges
from synth.service.quotas import asked_of, charge, counted, counts_to_begin, give_back, take_alone, with_owed
from synth.snapshot import Snapshot, load
from synth.spec import SpeechRequest
from synth.types import CacheMode, Delivery
from tenants.audit.keeping_text import kept_text
from tenants.limits import Admission, Metered, RateLimited
from tenants.models import Tenant
from tenants.quotas import KEY, SPOKEN, TENANT, QuotaExceeded, QuotaState, exceeded
from tenants.types import Caller, TenantRef

MAX_ASKS = 4  # confirm, begin the account, ask, and one that a reconnect spoils


class StaleSnapshot(Exception):  # noqa: N818
    """The caller's snapshot is old: load it again, judge the key and the request by it, and ask again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request, by one snapshot of its tenant. The admission goes on when a later snapshot is asked.

    `job_id` is that of the job which it becomes, where that must be the same each time that it is tried. `address` is
    where it comes from.
    """

    caller: Caller
    snapshot: Snapshot
    admission: Admission
    request_id: str
    job_id: UUID | None = None
    address: str = ""

    def gate(self, owed: Mapping[str, int], asked: Asked | None = None) -> Gate:
        return Gate(
            version=self.snapshot.version,
            key=self.caller.key_id.hex,
            tenant_limit=self.snapshot.limit,
            key_limit=self.caller.limit,
            counted=self.admission.admitted,
            tenant_owed=owed.get("tenant", 0),
            key_owed=owed.get("key", 0),
            asked=asked,
        )

    def asked(self, characters: int) -> Asked | None:
        """What of its characters is to be counted still, and by which quotas."""
        if self.admission.charged:
            return None
        asked = asked_of(characters, tenant=self.snapshot.quotas, key=self.caller.quotas)
        return with_owed(self.snapshot.tenant, self.caller.key_id, asked) if asked else None

    def metered(self) -> list[Metered]:
        """Its limits, as this process keeps them while Redis is away."""
        tenant, key = self.snapshot.tenant.id.hex, self.caller.key_id.hex
        limits = (("tenant", tenant, self.snapshot.limit), ("key", key, self.caller.limit))
        return [Metered(name, bucket, limit) for name, bucket, limit in limits if limit]

    def note(self, found: Lookup, asked: Asked | None) -> None:
        """What Redis counted stays counted, whatever it is asked further."""
        if found.counted and not self.admission.admitted:
            self.admission.admitted = True
            self.admission.allowances = found.allowances
        if asked and found.status in SETTLED:
            self.note_charged(asked.states(found.used))
        self.admission.recorded = self.admission.recorded or found.recorded

    def note_charged(self, states: tuple[QuotaState, ...]) -> None:
        """Its characters are counted; of what engines speak the quotas alone can be told here."""
        self.admission.charged = True
        of_tenant, of_key = self.snapshot.quotas.spoken, self.caller.quotas.spoken
        spoken = ((TENANT, of_tenant), (KEY, of_key))
        named = [QuotaState(scope, *each) for scope, limits in spoken for each in zip(SPOKEN, limits, strict=True)]
        self.admission.allowances = (*self.admission.allowances, *states, *(each for each in named if each.limit))

    def give_back(self, characters: int) -> None:
        """The request came to nothing, and no job stands for it."""
        asked = asked_of(characters, tenant=self.snapshot.quotas, key=self.caller.quotas)
        if self.admission.charged and asked:
            give_back(self.caller, asked, mark=self.request_id, at=timezone.now(), admission=self.admission)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A request, and what a snapshot says of it: its rule, and the keys that may answer it, its own first.

    `kept_text` is what the audit keeps of its text, and how.
    """

    request: SpeechRequest
    retention: Retention
    keys: tuple[str, ...]
    kept_text: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, request: SpeechRequest, snapshot: Snapshot) -> Self:
        retention = snapshot.retention_of(request.spec, request.category)
        keys = snapshot.keys_of(request.spec, retention)
        text = kept_text(snapshot.audit_text, snapshot.tenant.id, request.spec.text)
        return cls(request=request, retention=retention, keys=keys, kept_text=text)

    @property
    def key(self) -> str:
        return self.keys[0]

    @property
    def uses_cache(self) -> bool:
        return self.request.cache is CacheMode.USE and self.retention.store


def look_up(visit: Visit, inquiry: Inquiry) -> Lookup:
    """The one round trip; more only when the database has to tell what is right.

    Raises RateLimited, and StaleSnapshot.
    """
    tenant, wanted = visit.snapshot.tenant, _wanted(visit, inquiry)
    return _settled(
        visit,
        lambda gate: wiring.rendition_cache().look_up(tenant, inquiry.keys, gate=gate, wanted=wanted),
        asked=visit.asked(inquiry.request.characters),
    )


def glance(visit: Visit, inquiry: Inquiry) -> Lookup:
    """The one round trip and nothing more: whatever is in doubt is for `look_up`. Raises RateLimited."""
    cache, tenant = wiring.rendition_cache(), visit.snapshot.tenant
    metered, asked = visit.metered(), visit.asked(inquiry.request.characters)
    gate = visit.gate(_owed(metered), asked)
    found = cache.look_up(tenant, inquiry.keys, gate=gate, wanted=_wanted(visit, inquiry))
    _take_in(visit, found, metered, asked)
    return found


def admit(visit: Visit, characters: int = 0) -> None:
    """The same for a request that looks nothing up: it is counted, and its snapshot must be the tenant's latest."""
    cache, tenant = wiring.rendition_cache(), visit.snapshot.tenant
    _settled(visit, lambda gate: cache.admit(tenant, gate), asked=visit.asked(characters) if characters else None)


def charge_line(caller: Caller, snapshot: Snapshot, *, characters: int, mark: str) -> None:
    """Count the characters of what comes not as a request, once for each mark. Raises QuotaExceeded."""
    cache, tenant = wiring.rendition_cache(), snapshot.tenant
    for _ in range(MAX_ASKS):
        asked = asked_of(characters, tenant=snapshot.quotas, key=caller.quotas)
        if asked is None or charge(caller, asked, mark=mark) is None:
            return
        visit = Visit(caller=caller, snapshot=snapshot, admission=Admission(admitted=True), request_id="")
        with suppress(StaleSnapshot):
            _settled(visit, lambda gate: cache.admit(tenant, gate), asked=asked._replace(characters=0))
            continue
        snapshot = load(tenant.id) or snapshot


def is_fresh(snapshot: Snapshot, visit: Visit | None = None) -> bool:
    """Whether the snapshot is the tenant's latest. A `visit` is counted along, so it may raise RateLimited."""
    try:
        if visit is not None:
            admit(visit)
        elif wiring.rendition_cache().version(snapshot.tenant) != snapshot.version:
            _require_version_of_database(snapshot)
    except StaleSnapshot:
        return False
    return True


def is_latest(snapshot: Snapshot) -> bool:
    """Whether the database says so: Redis is told of a change a moment after others may have read it there."""
    try:
        _require_version_of_database(snapshot)
    except StaleSnapshot:
        return False
    return True


def _settled(visit: Visit, ask: Callable[[Gate], Lookup], *, asked: Asked | None) -> Lookup:
    cache, snapshot = wiring.rendition_cache(), visit.snapshot
    metered = [] if visit.admission.admitted else visit.metered()
    owed = _owed(metered)
    for _ in range(MAX_ASKS):
        found = ask(visit.gate(owed, asked))
        _take_in(visit, found, metered, asked)
        if found.status in SETTLED:
            return found
        if found.status is Status.UNSEEDED:
            asked = _begin_account(visit, asked)
            continue
        incarnation = cache.incarnation
        _require_version_of_database(snapshot)
        if found.status is not Status.RELOAD or not follow_purges(snapshot.tenant):
            break  # away, behind in its purges, or ahead of a database that was restored from a backup
        cache.confirm(snapshot.tenant, snapshot.version, incarnation=incarnation)
    visit.admission.degraded = True
    if metered and not visit.admission.admitted:
        visit.admission.allowances = wiring.local_buckets().take(metered)
    visit.admission.admitted = True
    if asked:
        visit.note_charged(take_alone(snapshot.tenant, visit.caller.key_id, asked))
    return Lookup(Status.AWAY)


def _begin_account(visit: Visit, asked: Asked | None) -> Asked | None:
    """By what the database knows, what this process let in without Redis included."""
    tenant, key = visit.snapshot.tenant, visit.caller.key_id
    known = today(tenant)
    if asked is None:
        wiring.rendition_cache().seed(tenant, known)
        return None
    wiring.local_quotas().settled(counted(tenant, key, asked))
    wiring.rendition_cache().seed(tenant, replace(known, counts=counts_to_begin(tenant, key, asked)))
    return asked._replace(owed=(0, 0, 0, 0))


def _owed(metered: Sequence[Metered]) -> dict[str, int]:
    if not metered:
        return {}
    owed = wiring.local_buckets().owed(metered)
    return {item.name: full_in for item, full_in in zip(metered, owed, strict=True)}


def _take_in(visit: Visit, found: Lookup, metered: Sequence[Metered], asked: Asked | None) -> None:
    """What Redis says of the limits. Raises RateLimited and QuotaExceeded."""
    visit.note(found, asked)
    if found.status is Status.LIMITED:
        raise RateLimited(found.allowances)
    if asked and any(asked.owed) and (found.status in SETTLED or found.status is Status.EXHAUSTED):
        wiring.local_quotas().settled(counted(visit.snapshot.tenant, visit.caller.key_id, asked))
    if asked and found.status is Status.EXHAUSTED:
        state = exceeded(asked.states(found.used), asked.characters)
        if state is not None:
            raise QuotaExceeded(state, others=found.allowances)
    if metered and found.status in SETTLED:
        wiring.local_buckets().follow(metered, found.allowances)


def _wanted(visit: Visit, inquiry: Inquiry) -> Wanted:
    want_audio = inquiry.request.delivery is not Delivery.URL
    return Wanted(
        retention=inquiry.retention,
        want_audio=want_audio,
        held_digest=_held(visit.snapshot.tenant, inquiry.keys) if want_audio else "",
        event=_event(visit, inquiry.request),
        audit=AuditPart(visit.address, *inquiry.kept_text).packed(),
    )


def _held(tenant: TenantRef, keys: Sequence[str]) -> str:
    digests = (wiring.local_cache().digest(redis_key(tenant, Kind.AUDIO, key)) for key in keys)
    return next(filter(None, digests), "")


def _event(visit: Visit, request: SpeechRequest) -> bytes:
    manner = request.spec.manner
    return Request(
        request_id=visit.request_id,
        key_id=visit.caller.key_id.hex,
        engine=manner.engine,
        voice=manner.voice,
        language=manner.language,
        category=request.category,
        delivery=request.delivery,
        characters=request.characters,
    ).packed()


def _require_version_of_database(snapshot: Snapshot) -> None:
    if _versions(tenant_id=snapshot.tenant.id) != [snapshot.version]:
        raise StaleSnapshot


@prepared_rows
def _versions(tenant_id: Any) -> QuerySet[Tenant, int]:
    return Tenant.objects.filter(id=tenant_id).order_by().values_list("snapshot_version", flat=True)
