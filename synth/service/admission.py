"""Lets a request in by its rate limits and looks it up: one round trip, and what stands in for it. speaking.py asks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.db.models import QuerySet

from synth import wiring
from synth.cache.asking import SETTLED, Gate, Lookup, Status, Wanted
from synth.cache.policy import Retention
from synth.cache.usage_stream import AuditPart, Request
from synth.keys import Kind, redis_key
from synth.models.prepared import prepared_rows
from synth.service.accounting import today
from synth.service.purging import follow_purges
from synth.snapshot import Snapshot
from synth.spec import SpeechRequest
from synth.types import CacheMode, Delivery
from tenants.audit.keeping_text import kept_text
from tenants.limits import Admission, Metered, RateLimited
from tenants.models import Tenant
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

    def gate(self, owed: Mapping[str, int]) -> Gate:
        return Gate(
            version=self.snapshot.version,
            key=self.caller.key_id.hex,
            tenant_limit=self.snapshot.limit,
            key_limit=self.caller.limit,
            counted=self.admission.admitted,
            tenant_owed=owed.get("tenant", 0),
            key_owed=owed.get("key", 0),
        )

    def metered(self) -> list[Metered]:
        """Its limits, as this process keeps them while Redis is away."""
        tenant, key = self.snapshot.tenant.id.hex, self.caller.key_id.hex
        limits = (("tenant", tenant, self.snapshot.limit), ("key", key, self.caller.limit))
        return [Metered(name, bucket, limit) for name, bucket, limit in limits if limit]

    def note(self, found: Lookup) -> None:
        """What Redis counted stays counted, whatever it is asked further."""
        if found.counted and not self.admission.admitted:
            self.admission.admitted = True
            self.admission.allowances = found.allowances
        self.admission.recorded = self.admission.recorded or found.recorded


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
        visit, lambda gate: wiring.rendition_cache().look_up(tenant, inquiry.keys, gate=gate, wanted=wanted)
    )


def glance(visit: Visit, inquiry: Inquiry) -> Lookup:
    """The one round trip and nothing more: whatever is in doubt is for `look_up`. Raises RateLimited."""
    cache, tenant = wiring.rendition_cache(), visit.snapshot.tenant
    metered = visit.metered()
    gate = visit.gate(_owed(metered))
    found = cache.look_up(tenant, inquiry.keys, gate=gate, wanted=_wanted(visit, inquiry))
    _take_in(visit, found, metered)
    return found


def admit(visit: Visit) -> None:
    """The same for a request that looks nothing up: it is counted, and its snapshot must be the tenant's latest."""
    _settled(visit, lambda gate: wiring.rendition_cache().admit(visit.snapshot.tenant, gate))


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


def _settled(visit: Visit, ask: Callable[[Gate], Lookup]) -> Lookup:
    cache, snapshot = wiring.rendition_cache(), visit.snapshot
    metered = [] if visit.admission.admitted else visit.metered()
    owed = _owed(metered)
    for _ in range(MAX_ASKS):
        found = ask(visit.gate(owed))
        _take_in(visit, found, metered)
        if found.status in SETTLED:
            return found
        if found.status is Status.UNSEEDED:
            cache.seed(snapshot.tenant, today(snapshot.tenant))
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
    return Lookup(Status.AWAY)


def _owed(metered: Sequence[Metered]) -> dict[str, int]:
    if not metered:
        return {}
    owed = wiring.local_buckets().owed(metered)
    return {item.name: full_in for item, full_in in zip(metered, owed, strict=True)}


def _take_in(visit: Visit, found: Lookup, metered: Sequence[Metered]) -> None:
    """What Redis says of the limits. Raises RateLimited."""
    visit.note(found)
    if found.status is Status.LIMITED:
        raise RateLimited(found.allowances)
    if metered and found.status in SETTLED:
        wiring.local_buckets().follow(metered, visit.admission.allowances)


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
