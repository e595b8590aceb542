"""Takes sounds out of the cache: first in the catalogue, under the tenant's next number, then in Redis.

Redis is believed only as far as it has followed these numbers (`follow_purges`); with Redis away the catalogue answers.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest

from synth import cards, wiring
from synth.keys import rendition_key, segment_key, spoken_by
from synth.models import Entry, PurgeNumber, Rendering, RenderingPart
from synth.models.chunks import chunks
from synth.models.clock import database_now
from synth.models.prepared import prepared_rows
from synth.models.states import OPEN
from synth.service.catalogue import LONG_AGO
from synth.service.object_sweep import discard
from synth.service.orders import segments_of
from synth.stored import spec_of
from synth.types import EngineCard, Spec
from tenants.encryption import is_own
from tenants.types import TenantRef

Item = TypeVar("Item")

# Rows of one transaction, and so of one number.
CHUNK = 200
# Keys of one round trip, a whole number of chunks at least, and round trips that one request may make.
KEYS_AT_ONCE = 1_000
MOST_ROUNDS = 10
# Purges that Redis may have missed although it was up: the sweeper looks for so long.
RECENT = timedelta(hours=1)
MOST_TENANTS = 500


def purge_entries(tenant: TenantRef, ids: Sequence[UUID], along: set[str]) -> int:
    """Purge these entries, at most a chunk of them, and what goes along, by its keys; how many, without the latter.

    Call `follow_purges` once the transaction is committed.
    """
    with transaction.atomic():
        number = next_number(tenant)
        found = list(Entry.objects.filter(tenant_id=tenant.id, id__in=ids).values_list("id", "digest", "format"))
        chosen = {row[0] for row in found}
        found += [row for row in _with_keys(tenant, along) if row[0] not in chosen]
        _bury(tenant, [row[0] for row in found], number)
        discard(tenant, {(digest, audio_format) for _, digest, audio_format in found})
    return len(chosen)


def going_along(tenant: TenantRef, ids: Sequence[UUID]) -> set[str]:
    """Keys of what is purged with those that are renditions: the same by earlier versions of the model, which would be

    served in their place, and the sentences of all of them, cut as they were when these were made.
    """
    found: set[str] = set()
    previous = cards.previous_cards()
    for entry in Entry.objects.filter(tenant_id=tenant.id, id__in=ids, kind=Entry.Kind.RENDITION):
        card = cards.of_version(entry.engine, entry.model_version) if entry.spec else None
        if card is None:
            continue
        if is_own(entry.sealed_by):  # its words are sealed: what it was made of tells its sentences
            found |= _parts(entry)
            continue
        spec = spec_of(entry)
        found |= _sentences(spec, card)
        for older in previous.get(entry.engine, ()):
            said = spoken_by(older, spec) if older.model_version != card.model_version else None
            if said is not None:
                found |= {rendition_key(said), *_sentences(said, older)}
    return found


def _parts(entry: Entry) -> set[str]:
    made = RenderingPart.objects.filter(rendering__tenant_id=entry.tenant_id, rendering__entry_id=entry.id)
    return set(made.order_by().values_list("key", flat=True))


def _sentences(spec: Spec, card: EngineCard) -> set[str]:
    return {segment_key(segment) for segment in segments_of(spec, max_units=card.max_units)}


def touch_entries(tenant: TenantRef, ids: Sequence[UUID], **changes: object) -> int:
    """Change columns of entries that their copies in Redis repeat; how many. Then `follow_purges`, as after a purge."""
    with transaction.atomic():
        number = next_number(tenant)
        return Entry.objects.filter(tenant_id=tenant.id, id__in=ids).update(purge_number=number, **changes)


def extend_entries(tenant: TenantRef, ids: Sequence[UUID]) -> int:
    """Let their TTL begin anew, whatever is left of it; not of those whose audio is lost. How many."""
    kept = Entry.objects.filter(tenant_id=tenant.id, id__in=ids).exclude(made_at=LONG_AGO)
    return touch_entries(tenant, list(kept.order_by().values_list("id", flat=True)), made_at=database_now())


def next_number(tenant: TenantRef) -> int:
    """Called in the transaction of the change, before any entry is locked: it is then nobody else's turn till the end.

    Whoever sees this number sees every change up to it. At least the time in ms: a database that was restored from a
    backup must not give a number again that Redis has followed.
    """
    now = database_now()
    raised = {"number": Greatest(F("number") + 1, int(now.timestamp() * 1000)), "raised_at": now}
    row = PurgeNumber.objects.filter(tenant_id=tenant.id)
    if not row.update(**raised):
        PurgeNumber.objects.get_or_create(tenant_id=tenant.id, defaults={"raised_at": LONG_AGO})
        row.update(**raised)
    return row.values_list("number", flat=True).get()


def known_number(tenant: TenantRef) -> int:
    return PurgeNumber.objects.filter(tenant_id=tenant.id).values_list("number", flat=True).first() or 0


def follow_purges(tenant: TenantRef) -> bool:
    """Let Redis follow the tenant's purges up to the last; False when it is away, or so far behind that it takes longer

    than a request may: the catalogue answers meanwhile, and the sweeper goes on.
    """
    cache = wiring.rendition_cache()
    latest = known_number(tenant)
    for _ in range(MOST_ROUNDS):
        known = cache.purge_number(tenant)
        if known is None:
            return False
        if known > latest:  # ahead of a database that was restored from a backup
            cache.forget_purge_number(tenant)
            continue
        if known == latest:
            return True
        keys, upto = _changed_since(tenant, known, latest)
        if not cache.purge(tenant, keys, since=known, upto=upto):
            return False
    return False


def follow_recent_purges() -> None:
    """The sweeper's part: what a process could not tell Redis, which the others reach."""
    recent = PurgeNumber.objects.filter(raised_at__gte=database_now() - RECENT).order_by("-raised_at")
    for tenant_id in list(recent.values_list("tenant_id", flat=True)[:MOST_TENANTS]):
        follow_purges(TenantRef(tenant_id))


def purged_since(tenant: TenantRef, since: datetime) -> tuple[int, bool]:
    """The tenant's number, and whether it may have grown since then: the clocks of two machines differ by minutes.

    In a transaction: nothing of the tenant's is purged before its end.
    """
    rows = _number(tenant_id=tenant.id)
    if not rows:  # the tenant's first rendition: without a row there would be nothing to lock
        row = PurgeNumber(tenant_id=tenant.id, raised_at=LONG_AGO)
        PurgeNumber.objects.bulk_create([row], ignore_conflicts=True)
        rows = _number(tenant_id=tenant.id)
    return (rows[0].number, rows[0].raised_at > since - timedelta(minutes=10)) if rows else (0, False)


def holds_purged(tenant: TenantRef, rendering: Rendering) -> bool:
    """Whether a sentence of it is no longer what the catalogue has: a purge came while it was made.

    One that is still on its way to storage is not in the catalogue yet, and no purge can have been about it.
    """
    parts = RenderingPart.objects.filter(rendering=rendering).exclude(synthesis__state__in=OPEN)
    made = dict(parts.order_by().values_list("key", "digest"))
    live: dict[str, str] = {}
    for chunk in chunks(sorted(made)):
        rows = Entry.objects.filter(tenant_id=tenant.id, kind=Entry.Kind.SEGMENT, key__in=chunk)
        live |= dict(rows.order_by().values_list("key", "digest"))
    return live != made


@prepared_rows
def _number(tenant_id: Any) -> QuerySet[PurgeNumber]:
    return PurgeNumber.objects.select_for_update().filter(tenant_id=tenant_id)


def _changed_since(tenant: TenantRef, known: int, latest: int) -> tuple[list[str], int]:
    """Renditions whose copy became wrong after `known`, whole numbers only, and up to which number that is.

    What was purged before the longest time that Redis keeps anything is not there any more.
    """
    rows = Entry.with_purged.filter(
        tenant_id=tenant.id, kind=Entry.Kind.RENDITION, purge_number__gt=known, purge_number__lte=latest
    )
    found = [
        (row.purge_number or 0, row.key)
        for row in rows.order_by("purge_number").only("purge_number", "key")[: KEYS_AT_ONCE + 1]
    ]
    upto = latest
    if len(found) > KEYS_AT_ONCE:
        upto = found[-1][0] - 1
    return [key for number, key in found if number <= upto], upto


def _with_keys(tenant: TenantRef, keys: set[str]) -> list[tuple[UUID, str, str]]:
    found: list[tuple[UUID, str, str]] = []
    for chunk in chunks(sorted(keys)):
        rows = Entry.objects.filter(tenant_id=tenant.id, kind__in=Entry.Kind.values, key__in=chunk)
        found += rows.order_by().values_list("id", "digest", "format")
    return found


def _bury(tenant: TenantRef, ids: Sequence[UUID], number: int) -> None:
    """What stays of a purged entry tells that there was one, and nothing of what it said."""
    now = database_now()
    for chunk in chunks(ids):
        Entry.objects.filter(tenant_id=tenant.id, id__in=chunk).update(
            purged_at=now, purge_number=number, pinned=False, text="", spec=None, provenance={}, previous_digest=""
        )
