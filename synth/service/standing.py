"""How stored sounds stand: which TTL rule applies, how old each may become, how often it was a hit. For the admin.

What follows is told without the heat of hits: Redis alone knows that, and lets a hot one become older.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db.models import Case, DateTimeField, F, Q, QuerySet, Value, When
from django.db.models.functions import Length

from synth import wiring
from synth.cache.policy import FOREVER, Retention, Rule, Subject, retention
from synth.conf import conf
from synth.models import Entry, Policy
from synth.models.clock import database_now
from synth.service.catalogue import LONG_AGO
from synth.service.object_sweep import hold
from synth.snapshot import rule_of
from synth.stored import of_entry
from synth.types import StoredAudio
from tenants.types import TenantRef

# Rules that one query can heed.
MOST_RULES = 200
NEVER = datetime(9000, 1, 1, tzinfo=UTC)


class EntryState(StrEnum):
    """FRESH is served; STALE too, and made anew. UNUSED: its rule never caches. LOST: storage has it no more."""

    FRESH = "fresh"
    STALE = "stale"
    EXPIRED = "expired"
    PINNED = "pinned"
    UNUSED = "unused"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class EntryStanding:
    """`age` and `max_age` are seconds; `rule` is None where the default applies; `hits` are those that Redis knows."""

    state: EntryState
    age: float
    max_age: float
    rule: Policy | None
    hits: int


class TooManyRules(Exception):  # noqa: N818
    """Of all tenants together: name one."""


def with_characters(rows: QuerySet[Entry]) -> QuerySet[Entry]:
    """What `standings` needs beside the columns."""
    return rows.annotate(characters=Length("text"))


def standings(entries: Sequence[Entry]) -> dict[UUID, EntryStanding]:
    """Of entries read by `with_characters`: one query, and one round trip for each of their tenants."""
    rules = _rules({entry.tenant_id for entry in entries})
    hits = _hits(entries)
    return {entry.id: _standing(entry, rules, hits.get(entry.id, 0)) for entry in entries}


def in_state(rows: QuerySet[Entry], wanted: EntryState, *, tenant_id: UUID | None = None) -> QuerySet[Entry]:
    """Those that stand so now. Raises TooManyRules."""
    if wanted is EntryState.LOST:
        return rows.filter(made_at__lte=LONG_AGO)
    now = database_now()
    fresh, last = (_cutoff(tenant_id, now, stale=stale) for stale in (False, True))
    rows = with_characters(rows).filter(made_at__gt=LONG_AGO).annotate(fresh_from=fresh, served_from=last)
    pinned = Q(pinned=True) | Q(fresh_from=LONG_AGO)
    return {
        EntryState.UNUSED: rows.filter(fresh_from=NEVER),
        EntryState.PINNED: rows.exclude(fresh_from=NEVER).filter(pinned),
        EntryState.FRESH: rows.exclude(pinned).filter(made_at__gte=F("fresh_from")),
        EntryState.STALE: rows.exclude(pinned).filter(made_at__lt=F("fresh_from"), made_at__gte=F("served_from")),
        EntryState.EXPIRED: rows.exclude(pinned).exclude(fresh_from=NEVER).filter(made_at__lt=F("served_from")),
    }[wanted]


def made_anew(rows: QuerySet[Entry]) -> QuerySet[Entry]:
    """Those whose sound before can still be heard."""
    return rows.filter(previous_until__gt=database_now()).exclude(previous_digest="")


def sound_before(entry: Entry) -> StoredAudio | None:
    """The sound whose place the present one took, to be given out once more; None once storage may not have it."""
    if not entry.previous_digest or entry.previous_until is None or entry.previous_until <= database_now():
        return None
    hold(TenantRef(entry.tenant_id), entry.previous_digest)
    made = entry.previous_made_at.timestamp() if entry.previous_made_at else 0.0
    return replace(of_entry(entry), digest=entry.previous_digest, duration=entry.previous_duration or 0.0, made=made)


# --- Rules ----------------------------------------------------------------------------------------------------------


def _rules(tenants: Iterable[UUID]) -> dict[UUID | None, list[tuple[Rule, Policy]]]:
    """By tenant; under None those for all."""
    rows = Policy.objects.filter(Q(tenant_id__in=set(tenants)) | Q(tenant=None), enabled=True).order_by()
    found: dict[UUID | None, list[tuple[Rule, Policy]]] = {}
    for row in rows:
        found.setdefault(row.tenant_id, []).append((rule_of(row), row))
    return found


def _standing(entry: Entry, rules: Mapping[UUID | None, list[tuple[Rule, Policy]]], hits: int) -> EntryStanding:
    known = [*rules.get(entry.tenant_id, []), *rules.get(None, [])]
    subject = Subject(
        category=entry.category, engine=entry.engine, voice=entry.voice, characters=getattr(entry, "characters", 0)
    )
    kept = retention((rule for rule, _row in known), subject, conf().cache_ttl)
    row = next((row for rule, row in known if rule.id == kept.rule), None)
    age = max(0.0, time.time() - entry.made_at.timestamp())
    return EntryStanding(_state(entry, kept, age), age, kept.max_age, row, hits)


def _state(entry: Entry, kept: Retention, age: float) -> EntryState:
    if entry.made_at <= LONG_AGO:
        return EntryState.LOST
    if not kept.store:
        return EntryState.UNUSED
    if entry.pinned or kept.pinned:
        return EntryState.PINNED
    if age <= kept.max_age:
        return EntryState.FRESH
    return EntryState.STALE if age <= kept.last_age else EntryState.EXPIRED


def _cutoff(tenant_id: UUID | None, now: datetime, *, stale: bool) -> Case:
    """Since when an entry must have been made to be served, by the first rule that matches it, in SQL."""
    rows = Policy.objects.filter(enabled=True).order_by()
    rows = rows if tenant_id is None else rows.filter(Q(tenant_id=tenant_id) | Q(tenant=None))
    known = sorted(((rule_of(row), row) for row in rows[: MOST_RULES + 1]), key=lambda pair: pair[0].rank)
    if len(known) > MOST_RULES:
        raise TooManyRules
    default = now - timedelta(seconds=conf().cache_ttl)
    whens = [When(_matches(rule, row), then=Value(_since(rule, now, stale=stale))) for rule, row in known]
    return Case(*whens, default=Value(default), output_field=DateTimeField())


def _since(rule: Rule, now: datetime, *, stale: bool) -> datetime:
    if not rule.store:
        return NEVER
    age = FOREVER if rule.pinned else float(conf().cache_ttl) if rule.max_age is None else rule.max_age
    age += rule.stale if stale else 0.0
    return LONG_AGO if rule.pinned or age >= FOREVER else now - timedelta(seconds=age)


def _matches(rule: Rule, row: Policy) -> Q:
    wanted = {
        "tenant_id": row.tenant_id,
        "category": rule.category,
        "engine": rule.engine,
        "voice": rule.voice,
        "characters__gte": rule.min_characters,
        "characters__lte": rule.max_characters,
    }
    return Q(**{name: value for name, value in wanted.items() if value is not None}) or Q(id__isnull=False)


# --- Hits -----------------------------------------------------------------------------------------------------------


def _hits(entries: Sequence[Entry]) -> dict[UUID, int]:
    """Of renditions: sentences are no answers."""
    by_tenant: dict[UUID, list[Entry]] = {}
    for entry in entries:
        if entry.kind == Entry.Kind.RENDITION:
            by_tenant.setdefault(entry.tenant_id, []).append(entry)
    cache = wiring.rendition_cache()
    found: dict[UUID, int] = {}
    for tenant_id, rows in by_tenant.items():
        counts = cache.hits(TenantRef(tenant_id), [row.key for row in rows])
        found.update(zip((row.id for row in rows), counts, strict=True))
    return found
