"""Finds unusual use in what the audit says, minute by minute, and flags it: in the audit, and as a row of its own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from tenants.audit.events import KEY, NOBODY, SYSTEM, Event, as_json
from tenants.audit.writing import chain_of, note
from tenants.models import AuditEvent, AuditFlag, AuditWatch, KnownAddress, UsualPace

MINUTE = timedelta(minutes=1)
LAG = timedelta(seconds=15)  # events are in the database by then
MOST_MINUTES = 15  # of one round; what is older than that was never looked at
WINDOW = timedelta(minutes=10)
NEW_FOR = timedelta(hours=1)
REMEMBERED = timedelta(days=90)
PACE_OVER = 1_440  # minutes
PACE_KNOWN_AFTER = 30
MISSING = 404
REFUSED = (401, 403, 422, 429)

Kind = AuditFlag.Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From how much on something is unusual; 0: it is not looked for."""

    new_addresses: int
    burst_factor: float
    burst_least: int
    missing_ids: int
    refusals: int


@dataclass(frozen=True, slots=True)
class _Seen:
    kind: str
    actor_id: str
    numbers: Mapping[str, Any]


def watch(thresholds: Thresholds, *, now: datetime | None = None) -> list[AuditFlag]:
    """One round, up to the last whole minute; what is newly flagged."""
    until = ((now or timezone.now()) - LAG).replace(second=0, microsecond=0)
    with transaction.atomic():
        begin = _begin(until)
        if begin >= until:
            return []
        recent = AuditEvent.objects.filter(at__gte=until - WINDOW, at__lt=until).order_by()
        seen = [
            *_bursts(begin, until, thresholds),
            *_new_addresses(begin, until, thresholds.new_addresses),
            *_missing_ids(recent, thresholds.missing_ids),
            *_refusals(recent, thresholds.refusals),
        ]
        return _flagged(seen, until)


def _begin(until: datetime) -> datetime:
    """Where the last round ended. Another one that looks waits, and then finds nothing left."""
    AuditWatch.objects.bulk_create([AuditWatch(id=1, looked_until=until - MINUTE)], ignore_conflicts=True)
    state = AuditWatch.objects.select_for_update().get(id=1)
    begin = max(state.looked_until, until - MOST_MINUTES * MINUTE)
    state.looked_until = max(state.looked_until, until)
    state.save()
    return begin


def _bursts(begin: datetime, until: datetime, thresholds: Thresholds) -> list[_Seen]:
    """Minutes in which an actor did far more than it usually does."""
    seen, minute = [], begin
    while minute < until:
        rows = AuditEvent.objects.filter(at__gte=minute, at__lt=minute + MINUTE).exclude(actor_id="").order_by()
        counts = dict(rows.values_list("actor_id").annotate(Count("id")))
        usual = {pace.actor_id: pace for pace in UsualPace.objects.filter(actor_id__in=counts)}
        for actor_id, count in counts.items():
            pace = usual.get(actor_id)
            if pace and _is_burst(count, pace, thresholds):
                seen.append(_Seen(Kind.BURST, actor_id, {"events": count, "usual": round(pace.mean, 2)}))
        _learn(minute, counts, usual)
        minute += MINUTE
    UsualPace.objects.filter(seen_at__lt=until - REMEMBERED).delete()
    return seen


def _is_burst(count: int, pace: UsualPace, thresholds: Thresholds) -> bool:
    known = thresholds.burst_factor > 0 and pace.minutes >= PACE_KNOWN_AFTER
    return known and count >= thresholds.burst_least and count > pace.mean * thresholds.burst_factor


def _learn(minute: datetime, counts: Mapping[str, int], usual: Mapping[str, UsualPace]) -> None:
    """A running mean over the minutes since an actor was first seen, the idle ones counted."""
    paces = []
    for actor_id, count in counts.items():
        pace = usual.get(actor_id) or UsualPace(actor_id=actor_id, seen_at=minute - MINUTE)
        elapsed = max(1, round((minute - pace.seen_at) / MINUTE))
        pace.minutes = min(pace.minutes + elapsed, PACE_OVER)
        pace.mean = (pace.mean * max(0, pace.minutes - elapsed) + count) / pace.minutes
        pace.seen_at = minute
        paces.append(pace)
    UsualPace.objects.bulk_create(
        paces, update_conflicts=True, unique_fields=["actor_id"], update_fields=["mean", "minutes", "seen_at"],
        batch_size=200,
    )  # fmt: skip


def _new_addresses(begin: datetime, until: datetime, threshold: int) -> list[_Seen]:
    """Keys that were used from many addresses, in the last hour, that they were never used from before."""
    rows = AuditEvent.objects.filter(at__gte=begin, at__lt=until, actor_kind=KEY).exclude(actor_id="").order_by()
    pairs = {(actor, _network(address)) for actor, address in rows.values_list("actor_id", "address").distinct()}
    met = [
        KnownAddress(actor_id=actor, address=address, first_at=until, last_at=until)
        for actor, address in sorted(pairs)
        if address
    ]
    KnownAddress.objects.bulk_create(
        met, update_conflicts=True, unique_fields=["actor_id", "address"], update_fields=["last_at"], batch_size=200
    )
    KnownAddress.objects.filter(last_at__lt=until - REMEMBERED).delete()
    if not threshold or not met:
        return []
    new = KnownAddress.objects.filter(first_at__gt=until - NEW_FOR, actor_id__in={row.actor_id for row in met})
    counts = new.order_by().values_list("actor_id").annotate(count=Count("id")).filter(count__gte=threshold)
    return [_Seen(Kind.NEW_ADDRESSES, actor, {"addresses": count}) for actor, count in counts]


def _network(address: str) -> str:
    """Of IPv6 the network: a device changes the rest at will."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return ""
    return str(ip_network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else str(parsed)


def _missing_ids(recent: QuerySet[AuditEvent], threshold: int) -> list[_Seen]:
    if not threshold:
        return []
    rows = recent.filter(status=MISSING).exclude(actor_id="")
    counts = rows.values_list("actor_id").annotate(ids=Count("object", distinct=True)).filter(ids__gte=threshold)
    return [_Seen(Kind.MISSING_IDS, actor, {"ids": count}) for actor, count in counts]


def _refusals(recent: QuerySet[AuditEvent], threshold: int) -> list[_Seen]:
    """Of a key or an operator, and of an address that is neither."""
    if not threshold:
        return []
    rows = recent.filter(Q(status__in=REFUSED) | Q(outcome="refused"))
    found = []
    for name, whose in (("actor_id", rows.exclude(actor_id="")), ("address", rows.filter(actor_kind=NOBODY))):
        counts = whose.values_list(name).annotate(count=Count("id")).filter(count__gte=threshold)
        found += [_Seen(Kind.REFUSALS, actor, {"refusals": count, "by": name}) for actor, count in counts if actor]
    return found


def _flagged(seen: Iterable[_Seen], at: datetime) -> list[AuditFlag]:
    """Each kind of an actor once an hour."""
    by_id = {uuid5(NAMESPACE_OID, f"{one.kind} {one.actor_id} {at:%Y-%m-%d %H}"): one for one in seen}
    known = set(AuditFlag.objects.filter(id__in=by_id).values_list("id", flat=True))
    flags = []
    for flag_id, one in by_id.items():
        if flag_id in known:
            continue
        last = AuditEvent.objects.filter(actor_id=one.actor_id).order_by("-at").first()
        flag = AuditFlag(id=flag_id, kind=one.kind, actor_id=one.actor_id, at=at, numbers=dict(one.numbers))
        flag.tenant_id, flag.actor_name = (last.tenant_id, last.actor_name) if last else (None, "")
        flags.append(flag)
        told: dict[str, Any] = {"object": one.actor_id, "outcome": one.kind, "detail": as_json(**one.numbers)}
        note(chain_of(flag.tenant_id), Event(id=flag_id, at=at, action="unusual use", actor_kind=SYSTEM, **told))
    AuditFlag.objects.bulk_create(flags, ignore_conflicts=True)
    return flags
