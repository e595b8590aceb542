"""At a new version of an engine's model: has the earlier one's sounds made anew, those that are asked for most first.

The sweeper calls `follow_model_changes`; making.py works the lines off, as those of a warming, and calls the rest.
"""

import time
from collections.abc import Iterator
from datetime import timedelta
from heapq import nlargest
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Length

from synth import wiring
from synth.cache.policy import Subject
from synth.conf import conf
from synth.controls import lacking
from synth.keys import spoken_by
from synth.models import CurationAction, CurationLine, EngineCardRow, Entry
from synth.models.clock import database_now
from synth.models.states import State
from synth.service.catalogue import LONG_AGO
from synth.service.purging import follow_purges, touch_entries
from synth.service.selection import EntryFilter, Selection
from synth.snapshot import Snapshot, load
from synth.spec import SpeechRequest
from synth.stored import spec_of
from tenants.ids import new_id
from tenants.models import Tenant
from tenants.types import TenantRef
from tenants.versions import raise_versions

# Of one change; what is left out is made anew when it is next asked for.
MOST_LINES = 10_000
PAGE = 500
# Why a line can never be made: nobody waits for it any longer.
NEVER = ("purged", "voice_gone", "unsupported_language", "unspeakable_characters", "unsupported_control")

# (hits, when it was made, entry, tenant): the greatest come first.
Heat = tuple[int, float, UUID, UUID]


def follow_model_changes() -> None:
    """The sweeper's part: open an action for each version that lost its place, and let it go once that is done."""
    _let_go()
    for row in EngineCardRow.objects.filter(replaced_at__isnull=False, remade_by=None):
        _open(row)


def rank(action: CurationAction) -> None:
    """Turn what is worth it into the lines of a new action, once."""
    if action.state != State.QUEUED:
        return
    chosen, left_out = _hottest(Selection.from_json(action.selection))
    told = {"matched": len(chosen), "selection": {**action.selection, "left_out": left_out}}
    lines = (
        CurationLine(action=action, number=number, tenant_id=tenant_id, entry_id=entry_id)
        for number, (*_, entry_id, tenant_id) in enumerate(chosen, start=1)
    )
    with transaction.atomic():  # two workers may have come this far
        if CurationAction.objects.filter(id=action.id, state=State.QUEUED).update(state=State.RUNNING, **told):
            CurationLine.objects.bulk_create(lines, batch_size=PAGE)


def as_spoken_now(entry: Entry, snapshot: Snapshot) -> tuple[SpeechRequest | None, str]:
    """The request for this entry by the version that is current, or a code that says why there is none."""
    spec = spec_of(entry)
    card = snapshot.cards.get(spec.manner.engine)
    code = lacking(card, spec) if card else "engine_version_gone"
    said = spoken_by(card, spec) if card and not code else None
    return (SpeechRequest(spec=said, category=entry.category) if said else None), code


def carry_pin(tenant: TenantRef, old_id: UUID | None, new_id: UUID | None) -> None:
    """Who pinned a sound wants it kept, whatever version speaks it."""
    rows = Entry.objects.filter(tenant_id=tenant.id)
    if new_id is None or not rows.filter(id__in=[old_id], pinned=True).exists():
        return
    if rows.filter(id=new_id, pinned=False).exists():
        touch_entries(tenant, [new_id], pinned=True)
        follow_purges(tenant)


def _open(row: EngineCardRow) -> None:
    now = database_now()
    old = EntryFilter(engine=row.name, model_version=row.model_version, kind=Entry.Kind.RENDITION)
    with transaction.atomic():
        mine = EngineCardRow.objects.filter(id=row.id, replaced_at__isnull=False, remade_by=None)
        action_id = new_id()
        if not mine.update(remade_by=action_id):  # another sweeper was faster, or it is current again
            return
        chosen = Selection(filter=old, until=now).to_json()
        CurationAction.objects.create(id=action_id, kind=CurationAction.Kind.MODEL_CHANGE, selection=chosen)
    wiring.doorbell().ring_curation()


def _let_go() -> None:
    """Serve no more of versions whose time is over, or of which nothing is left to be made anew."""
    replaced = EngineCardRow.objects.filter(replaced_at__isnull=False)
    over = replaced.filter(replaced_at__lt=database_now() - timedelta(seconds=conf().old_model_ttl))
    ids = {*over.values_list("id", flat=True), *(row.id for row in replaced if _is_remade(row.remade_by))}
    if not ids:
        return
    with transaction.atomic():
        if replaced.filter(id__in=ids).update(replaced_at=None):
            raise_versions()


def _is_remade(action_id: UUID | None) -> bool:
    done = CurationAction.objects.filter(id__in=[action_id], state=State.SUCCEEDED).first()
    if done is None or done.selection.get("left_out"):
        return False
    return not done.lines.filter(outcome=CurationLine.Outcome.FAILED).exclude(error_code__in=NEVER).exists()


def _hottest(selection: Selection) -> tuple[list[Heat], int]:
    """Those that are asked for most, and how many there are besides."""
    seen = 0

    def counted() -> Iterator[Heat]:
        nonlocal seen
        for heat in _candidates(selection):
            seen += 1
            yield heat

    chosen = nlargest(MOST_LINES, counted())
    return chosen, seen - len(chosen)


def _candidates(selection: Selection) -> Iterator[Heat]:
    """What could be served still, of tenants that may ask, where the rules let the old be served."""
    active = Tenant.objects.filter(status=Tenant.Status.ACTIVE)
    tenants = selection.rows(None).filter(tenant__in=active).order_by().values_list("tenant_id", flat=True).distinct()
    for tenant_id in list(tenants):
        snapshot = load(tenant_id)
        if snapshot is None:
            continue
        rows = selection.rows(snapshot.tenant).filter(spec__isnull=False).annotate(characters=Length("text"))
        for page in _pages(rows):
            kept = [row for row in page if _is_worth_it(row, snapshot)]
            hits = wiring.rendition_cache().hits(snapshot.tenant, [row.key for row in kept])
            for row, count in zip(kept, hits, strict=True):
                yield count, row.made_at.timestamp(), row.id, tenant_id


def _pages(rows: QuerySet[Entry]) -> Iterator[list[Any]]:
    columns = rows.only("id", "key", "category", "engine", "voice", "made_at", "pinned")
    page = list(columns[:PAGE])
    while page:
        yield page
        page = list(columns.filter(id__gt=page[-1].id)[:PAGE])


def _is_worth_it(row: Any, snapshot: Snapshot) -> bool:
    subject = Subject(category=row.category, engine=row.engine, voice=row.voice, characters=row.characters)
    kept = snapshot.retention_for(subject)
    age = time.time() - row.made_at.timestamp()
    fresh = age <= kept.longest_age or (row.pinned and row.made_at > LONG_AGO)
    return kept.store and kept.serve_old and fresh
