"""Takes batches: every item is judged on its own and stored as a line, the good ones to be spoken.

The API calls `create_batch`; `making.py` works the lines off, `progress.py` ends the batch, `results.py` tells
what came of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction

from synth import wiring
from synth.fields import refusal
from synth.models import CurationAction, CurationLine
from synth.models.states import State
from synth.service.batches.items import Item, ItemReader, ReadItem
from synth.service.curation import Actor, left_behind, open_action
from synth.service.sealing import refuse_with_own_key
from synth.service.webhooks.callbacks import callback_columns, callback_of
from synth.snapshot import load
from tenants.errors import NotFound
from tenants.errors import untranslated as _
from tenants.ids import new_id
from tenants.types import TenantRef

MOST_ITEMS = 10_000
# Rows of one statement: SQLite has one writer at a time.
STORED_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOrder:
    """What holds for a whole batch: `defaults` are fields of every item that does not say otherwise."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    callback: str = ""


def create_batch(
    tenant: TenantRef, items: Iterable[Item], *, order: BatchOrder, actor: Actor, batch_id: UUID | None = None
) -> CurationAction:
    """Have these spoken, below what somebody waits for. Whatever is raised, nothing of it stays.

    A batch with this id that is there already is the one.

    Raises InvalidSpeech when there are no items, too many or none that can be read, and for a callback that is not
    allowed; TooManyBatches; OffWithOwnKey; ServiceUnavailable while no engine has published a card. Passes on what
    `items` raises.
    """
    left = left_behind(batch_id)
    if left is not None:
        return left
    refuse_with_own_key(tenant)
    snapshot = load(tenant.id)
    if snapshot is None:
        raise NotFound
    callback = callback_of(tenant, order.callback)
    with transaction.atomic():
        batch = open_action(
            CurationAction.Kind.BATCH,
            id=batch_id or new_id(),
            tenant=tenant,
            actor=actor,
            state=State.WAITING,
            metadata=dict(order.metadata),
            **callback_columns(callback),
        )
    try:
        counted = _store(batch, tenant, items, ItemReader(snapshot, order.defaults))
        CurationAction.objects.filter(id=batch.id, state=State.WAITING).update(state=State.QUEUED, **counted)
    except BaseException:
        CurationAction.objects.filter(id=batch.id).delete()
        raise
    batch.refresh_from_db()
    wiring.doorbell().ring_curation()
    return batch


def _store(batch: CurationAction, tenant: TenantRef, items: Iterable[Item], reader: ItemReader) -> dict[str, int]:
    """Lines of all items; how many there are, and how many of them were refused."""
    total = refused = unread = 0
    remaining = iter(items)
    # Judged one by one: a payload that is refused may take twenty times the memory of its bytes.
    while judged := [(reader.read(item), item.problem) for item in islice(remaining, STORED_AT_ONCE)]:
        total += len(judged)
        _refuse_number(total)
        unread += sum(problem is not None for _item, problem in judged)
        refused += sum(bool(item.error_code) for item, _problem in judged)
        CurationLine.objects.bulk_create([_line(batch, tenant, item) for item, _problem in judged])
    if not total:
        _refuse_number(total)
    if unread == total:
        raise refusal(
            "", "nothing_to_read", _("Not one item of this can be read: see what is said of its Content-Type.")
        )
    return {"matched": total, "refused": refused}


def _line(batch: CurationAction, tenant: TenantRef, item: ReadItem) -> CurationLine:
    outcome = CurationLine.Outcome.REFUSED if item.error_code else CurationLine.Outcome.WAITING
    return CurationLine(
        action=batch,
        tenant_id=tenant.id,
        number=item.line,
        payload=item.payload,
        outcome=outcome,
        error_code=item.error_code,
        error_detail=item.error_detail,
    )


def _refuse_number(total: int) -> None:
    if not 1 <= total <= MOST_ITEMS:
        message = _("A batch has 1 to %(maximum)s items.")
        raise refusal("items", "out_of_range", message, allowed={"maximum": MOST_ITEMS}, maximum=MOST_ITEMS)
