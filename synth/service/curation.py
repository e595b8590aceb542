"""Purges, refreshes, pins, warmings and batches as people order them, done in portions, told of by their row.

Doors call `count_matching`, `curate` and `warm`; io workers call `drain_actions` when a bell rings.
"""

import logging
import time
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q, QuerySet

from synth import wiring
from synth.conf import conf
from synth.errors import ConfirmationRequired, TooManyActions, TooManyBatches
from synth.fields import refusal
from synth.models import CurationAction, Entry
from synth.models.clock import database_now
from synth.models.locks import one_at_a_time
from synth.models.states import ENDED, OPEN, State
from synth.queue.doorbell import CURATION
from synth.queue.shutdown import stopping
from synth.service.making import make_portion, next_entries
from synth.service.progress import end_action
from synth.service.purging import CHUNK, extend_entries, follow_purges, going_along, purge_entries, touch_entries
from synth.service.sealing import refuse_with_own_key
from synth.service.selection import Selection
from tenants.errors import NotFound
from tenants.errors import untranslated as _
from tenants.ids import new_id
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

Kind = CurationAction.Kind
# Above this many entries the count must have been seen.
CONFIRM_ABOVE = 100
MOST_OPEN = 10
BATCH_RETRY_AFTER = 30.0
DRAIN_SECONDS = 10.0
# Of these, for one action at a time.
SLICE = 2.0
DRAINED_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who ordered it: an API key, or a user of the admin by name."""

    api_key_id: UUID | None = None
    user_name: str = ""
    request_id: str = ""


def count_matching(kind: str, selection: Selection, *, tenant: TenantRef | None) -> int:
    """How many entries an action would be about. Raises NotFound for an id that is not the tenant's, OffWithOwnKey."""
    _refuse_what_needs_words(kind, selection, tenant)
    return _matching(kind, selection, tenant).count()


def curate(
    kind: str,
    selection: Selection,
    *,
    tenant: TenantRef | None,
    actor: Actor,
    expected: int | None,
    action_id: UUID | None = None,
) -> CurationAction:
    """Order an action; a small one is done when this returns. One with this id that is there already is the one.

    Raises NotFound, ConfirmationRequired when more match than `expected` and than need no confirmation,
    TooManyActions, and OffWithOwnKey.
    """
    _refuse_what_needs_words(kind, selection, tenant)
    left = left_behind(action_id)
    if left is not None:
        return left
    selection = selection.frozen_at(database_now())
    matched = count_matching(kind, selection, tenant=tenant)
    if matched > max(CONFIRM_ABOVE, expected or 0) or (expected is not None and matched > expected):
        raise ConfirmationRequired(params={"matched": matched}, members={"matched": matched})
    columns = {"selection": selection.to_json(), "matched": matched, "id": action_id or new_id()}
    action = open_action(kind, tenant=tenant, actor=actor, **columns)
    if matched <= CHUNK and kind != Kind.REFRESH:
        _work_off(action)
        action.refresh_from_db()
    if action.state in OPEN:
        wiring.doorbell().ring_curation()
    return action


def _refuse_what_needs_words(kind: str, selection: Selection, tenant: TenantRef | None) -> None:
    searches = selection.filter is not None and selection.filter.text_contains
    if tenant is not None and (kind == Kind.REFRESH or searches):
        refuse_with_own_key(tenant)


@transaction.atomic
def open_action(kind: str, *, tenant: TenantRef | None, actor: Actor, **columns: object) -> CurationAction:
    """The row of a new action. Raises TooManyActions, and TooManyBatches."""
    one_at_a_time(f"actions of {tenant.id if tenant else 'operators'}")
    owner = Q(tenant_id=tenant.id) if tenant else Q(tenant=None)
    under_way = CurationAction.objects.filter(owner, state__in=OPEN)
    if kind == Kind.BATCH:
        if under_way.filter(kind=kind).count() >= MOST_OPEN:
            raise TooManyBatches(params={"most": MOST_OPEN}, retry_after=BATCH_RETRY_AFTER)
    elif under_way.exclude(kind=Kind.BATCH).count() >= MOST_OPEN:
        raise TooManyActions(params={"most": MOST_OPEN})
    return CurationAction.objects.create(
        kind=kind,
        tenant_id=tenant.id if tenant else None,
        api_key_id=actor.api_key_id,
        user_name=actor.user_name,
        request_id=actor.request_id,
        **columns,
    )


def left_behind(action_id: UUID | None) -> CurationAction | None:
    """What an earlier try of this request made, whose process did not live to answer.

    A list of which not all lines were stored is begun anew.
    """
    if action_id is None:
        return None
    CurationAction.objects.filter(id=action_id, state=State.WAITING).delete()
    return CurationAction.objects.filter(id=action_id).first()


def actions_wait() -> bool:
    """Whether the sweeper should ring."""
    return _claimable().exists()


def drain_actions() -> None:
    """Give every open action one portion after the other, for some seconds.

    What waits for jobs is left to the next bell, so that no thread of an io worker waits.
    """
    wiring.doorbell().answered(CURATION)
    ends_at = time.monotonic() + DRAIN_SECONDS
    busy = True
    while busy and time.monotonic() < ends_at and not stopping.is_set():
        busy = False
        for action_id in list(_claimable().values_list("id", flat=True)[:DRAINED_AT_ONCE]):
            action = _claim(action_id)
            if action is not None:
                busy = _worked_off(action, until=min(ends_at, time.monotonic() + SLICE)) or busy
    if busy:
        wiring.doorbell().ring_curation()


def _worked_off(action: CurationAction, *, until: float) -> bool:
    """One that breaks, for whatever reason, must not hold up those behind it."""
    try:
        return _work_off(action, until=until)
    except (OperationalError, InterfaceError):  # the database is away: they wait for it
        raise
    except Exception:
        logger.exception("action %s broke", action.public_id)
        return False


def _work_off(action: CurationAction, *, until: float | None = None) -> bool:
    """Portions of one action until the time is over; whether there is more that could be done at once."""
    try:
        while _portion(action):
            if until is not None and (time.monotonic() > until or stopping.is_set()):
                return True
        return False
    finally:
        CurationAction.objects.filter(id=action.id).update(lease_until=None)


def _portion(action: CurationAction) -> bool:
    """One portion; whether another one could follow at once."""
    if action.kind in (Kind.REFRESH, Kind.WARM, Kind.MODEL_CHANGE, Kind.BATCH):
        return make_portion(action)
    return _change_portion(action)


def _change_portion(action: CurationAction) -> bool:
    """Change the next entries and move on, in one transaction: none is done twice, none is left out."""
    action.refresh_from_db()
    if action.state not in OPEN:
        return False
    found = next_entries(action, CHUNK)
    changes = [_Change(action.kind, TenantRef(tenant_id), ids) for tenant_id, ids in sorted(found.items())]
    ended = sum(len(change.ids) for change in changes) < CHUNK
    cursor = max((max(change.ids) for change in changes), default=action.cursor)
    with transaction.atomic():
        here = CurationAction.objects.filter(id=action.id, state__in=OPEN, cursor=action.cursor)
        if not here.update(cursor=cursor, state=State.RUNNING):  # canceled, or another worker was faster
            return True
        done = sum(change.make() for change in changes)
        CurationAction.objects.filter(id=action.id).update(done=F("done") + done)
        if ended:
            end_action(action, State.SUCCEEDED)
    for change in changes:
        follow_purges(change.tenant)
    return not ended


class _Change:
    """What one portion does to the entries of one tenant. What takes its time is worked out before the transaction."""

    def __init__(self, kind: str, tenant: TenantRef, ids: list[UUID]) -> None:
        self.kind, self.tenant, self.ids = kind, tenant, ids
        self._along = going_along(tenant, ids) if kind == Kind.PURGE else set()

    def make(self) -> int:
        if self.kind == Kind.PURGE:
            return purge_entries(self.tenant, self.ids, self._along)
        if self.kind == Kind.EXTEND:
            return extend_entries(self.tenant, self.ids)
        return touch_entries(self.tenant, self.ids, pinned=self.kind == Kind.PIN)


def _matching(kind: str, selection: Selection, tenant: TenantRef | None) -> QuerySet[Entry]:
    rows = selection.rows(tenant)
    if selection.ids and rows.count() != len(set(selection.ids)):
        raise NotFound
    if kind != Kind.REFRESH:
        return rows
    renditions = rows.filter(kind=Entry.Kind.RENDITION)
    if selection.ids and renditions.count() != len(set(selection.ids)):
        message = _("A sentence is made anew with the renditions that hold it: name these.")
        raise refusal("entry_ids", "not_a_rendition", message)
    return renditions


def _claimable() -> QuerySet[CurationAction]:
    """Those of a kind that this version does not know are left to the next one, which runs beside it in an upgrade."""
    free = Q(lease_until=None) | Q(lease_until__lt=database_now())
    known = CurationAction.objects.filter(free, kind__in=Kind.values, state__in=(State.QUEUED, State.RUNNING))
    return known.order_by("created_at", "id")


def _claim(action_id: UUID) -> CurationAction | None:
    """The action under a lease of ours; None when another worker has it, or it has ended."""
    until = database_now() + timedelta(seconds=SLICE + conf().lease)
    if not _claimable().filter(id=action_id).order_by().update(lease_until=until):
        return None
    return CurationAction.objects.exclude(state__in=ENDED).filter(id=action_id).first()
