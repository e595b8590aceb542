"""Takes lists of lines that are to be spoken before anybody asks for them. API and command line call `warm`."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from synth import wiring
from synth.models import CurationAction, CurationLine
from synth.models.clock import database_now
from synth.models.states import State
from synth.service.curation import Actor, open_action
from tenants.types import TenantRef

MOST_LINES = 100_000
# Rows of one transaction: a hundred thousand at once would hold up every other writer of SQLite.
STORED_AT_ONCE = 2_000
LOADED_WITHIN = timedelta(minutes=15)


def warm(tenant: TenantRef, lines: Sequence[Any], *, actor: Actor) -> CurationAction:
    """Have these lines spoken, below all other work. Bad ones are told of, and do not keep the others from it."""
    action = open_action(CurationAction.Kind.WARM, tenant=tenant, actor=actor, matched=len(lines), state=State.WAITING)
    for start in range(0, len(lines), STORED_AT_ONCE):
        CurationLine.objects.bulk_create(
            [
                CurationLine(action=action, number=number, tenant_id=tenant.id, payload=line)
                for number, line in enumerate(lines[start : start + STORED_AT_ONCE], start=start + 1)
            ],
            batch_size=500,
        )
    CurationAction.objects.filter(id=action.id, state=State.WAITING).update(state=State.QUEUED)
    action.refresh_from_db()
    wiring.doorbell().ring_curation()
    return action


def fail_unloaded() -> None:
    """The sweeper's part: lists whose process died before all their lines were stored. They were never accepted."""
    old = CurationAction.objects.filter(state=State.WAITING, created_at__lt=database_now() - LOADED_WITHIN)
    for action in old[:10]:
        if CurationAction.objects.filter(id=action.id, state=State.WAITING).update(
            state=State.FAILED, ended_at=database_now()
        ):
            CurationLine.objects.filter(action=action).delete()
