"""Takes lists of lines that are to be spoken before anybody asks for them. API and command line call `warm`."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from synth import wiring
from synth.models import CurationAction, CurationBlock
from synth.models.clock import database_now
from synth.models.states import State
from synth.service.curation import Actor, left_behind, open_action
from synth.service.sealing import refuse_with_own_key
from tenants.ids import new_id
from tenants.types import TenantRef

MOST_LINES = 100_000
# Lines of one row; rows of one transaction, which must not hold up every other writer of SQLite.
BLOCK = 100
BLOCKS_AT_ONCE = 100
LOADED_WITHIN = timedelta(minutes=15)


def warm(tenant: TenantRef, lines: Sequence[Any], *, actor: Actor, action_id: UUID | None = None) -> CurationAction:
    """Have these lines spoken, below all other work. Bad ones are told of, and do not keep the others from it.

    An action with this id that is there already is the one. Raises OffWithOwnKey.
    """
    left = left_behind(action_id)
    if left is not None:
        return left
    refuse_with_own_key(tenant)
    columns = {"matched": len(lines), "state": State.WAITING, "id": action_id or new_id()}
    action = open_action(CurationAction.Kind.WARM, tenant=tenant, actor=actor, **columns)
    for start in range(0, len(lines), BLOCK * BLOCKS_AT_ONCE):
        CurationBlock.objects.bulk_create(
            CurationBlock(action=action, first=first + 1, lines=lines[first : first + BLOCK])
            for first in range(start, min(start + BLOCK * BLOCKS_AT_ONCE, len(lines)), BLOCK)
        )
    CurationAction.objects.filter(id=action.id, state=State.WAITING).update(state=State.QUEUED)
    action.refresh_from_db()
    wiring.doorbell().ring_curation()
    return action


def unloaded() -> QuerySet[CurationAction]:
    """Lists whose process died before all their lines were stored. They were never accepted."""
    return CurationAction.objects.filter(state=State.WAITING, created_at__lt=database_now() - LOADED_WITHIN)


def fail_unloaded() -> None:
    """The sweeper's part."""
    for action in unloaded()[:10]:
        mine = CurationAction.objects.filter(id=action.id, state=State.WAITING)
        if action.kind == CurationAction.Kind.BATCH:
            mine.delete()
        elif mine.update(state=State.FAILED, ended_at=database_now()):
            CurationBlock.objects.filter(action=action).delete()
