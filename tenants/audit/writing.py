"""Appends events to a chain: one writer at a time, each batch sealed as a segment in the transaction that writes it."""

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from tenants.audit import sealing
from tenants.audit.events import KEY, Event
from tenants.models import ApiKey, AuditChain, AuditEvent, AuditNote, AuditSegment
from tenants.models.audit import PLATFORM

logger = logging.getLogger("refrain.audit")

ROWS = 200  # of one statement
NOTES = 500
# After this, who began it is taken for dead.
OPEN_FOR = timedelta(minutes=10)


def chain_of(tenant_id: UUID | None) -> UUID:
    return tenant_id or PLATFORM


@transaction.atomic
def append(chain: UUID, events: Sequence[Event]) -> int:
    """Write those that are not there yet, and seal them; how many. The order is that of arrival."""
    head = locked(chain)
    new = _unwritten(events)
    if not new:
        return 0
    key_id = sealing.current_key()
    rows = [_row(head, event, sequence) for sequence, event in enumerate(new, start=head.last + 1)]
    _name_keys(rows)
    for row in rows:
        row.mac = sealing.row_mac(row, key_id=key_id)
    AuditEvent.objects.bulk_create(rows, batch_size=ROWS)
    segment = _sealed(head, rows, key_id)
    AuditSegment.objects.bulk_create([segment])
    head.number, head.last, head.mac = segment.number, segment.last, segment.mac
    head.save(update_fields=["number", "last", "mac"])
    logger.debug("audit of %s: events to %d sealed as %s", chain, segment.last, segment.mac)
    return len(rows)


def locked(chain: UUID) -> AuditChain:
    """The chain's row, begun where it is new. Others who write wait until this transaction ends."""
    rows = AuditChain.objects.select_for_update().filter(id=chain)
    found = rows.first()
    if found is None:
        begun = AuditChain(id=chain, tenant_id=None if chain == PLATFORM else chain)
        AuditChain.objects.bulk_create([begun], ignore_conflicts=True)
        found = rows.get()
    return found


def note(chain: UUID, event: Event, *, unfinished: bool = False) -> None:
    """Leave an event for the next round, in the transaction that is under way."""
    until = timezone.now() + OPEN_FOR if unfinished else None
    AuditNote.objects.create(id=event.id, chain=chain, event=event.packed().decode(), open_until=until)


def finish(chain: UUID, event: Event) -> None:
    """What was begun has ended, as this says."""
    columns = {"chain": chain, "event": event.packed().decode(), "open_until": None}
    if not AuditNote.objects.filter(id=event.id).update(**columns):  # it took longer than anyone waits
        note(chain, event)


def append_notes() -> int:
    """What was left for this round; how many notes were taken."""
    ready = Q(open_until=None) | Q(open_until__lt=timezone.now())
    notes = list(AuditNote.objects.filter(ready).order_by("id")[:NOTES])
    for chain in dict.fromkeys(note.chain for note in notes):
        own = [note for note in notes if note.chain == chain]
        with transaction.atomic():
            append(chain, [Event.unpacked(note.event) for note in own])
            AuditNote.objects.filter(id__in=[note.id for note in own]).delete()
    return len(notes)


def _unwritten(events: Iterable[Event]) -> list[Event]:
    """Each once, without those that an earlier round wrote and died before it could say so."""
    by_id = {event.id: event for event in events}
    for known in AuditEvent.objects.filter(id__in=list(by_id)).values_list("id", flat=True):
        del by_id[known]
    return list(by_id.values())


def _row(head: AuditChain, event: Event, sequence: int) -> AuditEvent:
    return AuditEvent(chain=head.id, tenant_id=head.tenant_id, sequence=sequence, **event.columns())


def _name_keys(rows: Iterable[AuditEvent]) -> None:
    """Keys by the name that they have now: a later reader may no longer find them."""
    unnamed = [row for row in rows if row.actor_kind == KEY and row.actor_id and not row.actor_name]
    names = dict(ApiKey.objects.filter(id__in={row.actor_id for row in unnamed}).values_list("id", "name"))
    for row in unnamed:
        row.actor_name = names.get(UUID(row.actor_id), "")


def _sealed(head: AuditChain, rows: Sequence[AuditEvent], key_id: int) -> AuditSegment:
    segment = AuditSegment(
        chain=head.id,
        tenant_id=head.tenant_id,
        number=head.number + 1,
        first=rows[0].sequence,
        last=rows[-1].sequence,
        count=len(rows),
        rows=sealing.rows_digest(row.mac for row in rows),
        previous=head.mac,
        key_id=key_id,
        latest_at=max(row.at for row in rows),
        sealed_at=timezone.now(),
    )
    segment.mac = sealing.segment_mac(segment)
    return segment
