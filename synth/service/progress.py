"""Counts the lines of an action as they end, and ends the action with the last of them.

Called by `making.py`, which works lines off, and by `cancelling.py`.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F

from synth.models import CurationAction, CurationLine, EventType, Job
from synth.models.clock import database_now
from synth.models.states import ENDED, OPEN, State
from synth.service.webhooks.events import note_event
from tenants.types import TenantRef

Kind = CurationAction.Kind
Outcome = CurationLine.Outcome
REFRESHING = (Kind.REFRESH, Kind.MODEL_CHANGE)
# What an action has a count of; of canceled lines it has none.
COUNTED = {Outcome.DONE, Outcome.CACHED, Outcome.FAILED}


def end_line(action: CurationAction, line: CurationLine, outcome: str, **told: Any) -> bool:
    """Count a line that has ended, once; whether it was this call. Of a batch it stays, else only if it failed."""
    stays = action.kind == Kind.BATCH or outcome == Outcome.FAILED
    with transaction.atomic():
        mine = CurationLine.objects.filter(id=line.id, outcome=Outcome.OPEN)
        ended = mine.update(outcome=outcome, **told) if stays else mine.delete()[0]
        if ended and outcome in COUNTED:
            column = str(outcome)
            CurationAction.objects.filter(id=action.id).update(**{column: F(column) + 1})
    return bool(ended)


def end_line_as(action: CurationAction, line: CurationLine, job: Job) -> None:
    """As its job ended. A batch tells jobs that were canceled apart."""
    if job.state == State.SUCCEEDED:
        end_line(action, line, Outcome.DONE)
    elif job.state == State.CANCELED and action.kind == Kind.BATCH:
        end_line(action, line, Outcome.CANCELED)
    else:
        end_line(action, line, Outcome.FAILED, error_code=job.error_code or job.state)


@transaction.atomic
def end_action(action: CurationAction, state: State) -> bool:
    """Once: False when it had ended before. Its tenant is told of a batch and of a refresh."""
    still_open = CurationAction.objects.filter(id=action.id, state__in=OPEN)
    if not still_open.update(state=state, ended_at=database_now(), lease_until=None):
        return False
    action.refresh_from_db()
    if action.kind == Kind.BATCH:
        _note_batch(action)
    elif action.kind in REFRESHING and action.tenant_id is not None:  # an operator's is over all tenants
        _note_refresh(action)
    return True


def counts_of(batch: CurationAction, unfinished: Mapping[str, int]) -> dict[str, int]:
    """Every line once. `unfinished` is what `unfinished_of` tells of this batch."""
    counts = {
        "total": batch.matched,
        "refused": batch.refused,
        "succeeded": batch.done,
        "cached": batch.cached,
        "failed": batch.failed,
    }
    left = max(0, batch.matched - batch.refused - batch.done - batch.cached - batch.failed)
    if batch.state in ENDED:
        return counts | {"running": 0, "waiting": 0, "canceled": left}
    running = min(left, unfinished.get(Outcome.OPEN, 0))
    canceled = min(left - running, unfinished.get(Outcome.CANCELED, 0))
    return counts | {"running": running, "waiting": left - running - canceled, "canceled": canceled}


def unfinished_of(batches: Iterable[CurationAction]) -> dict[UUID, dict[str, int]]:
    """How many lines of each open batch are being made, and were canceled one by one: no column counts these."""
    rows = CurationLine.objects.filter(action__in=[batch.id for batch in batches if batch.state in OPEN])
    rows = rows.filter(outcome__in=(Outcome.OPEN, Outcome.CANCELED))
    found: dict[UUID, dict[str, int]] = {}
    for action_id, outcome, count in rows.order_by().values_list("action", "outcome").annotate(Count("id")):
        found.setdefault(action_id, {})[outcome] = count
    return found


def _note_refresh(action: CurationAction) -> None:
    assert action.tenant_id is not None  # noqa: S101 - whom it is told
    data = {
        "id": action.public_id,
        "status": action.state,
        "href": f"/v1/cache/actions/{action.public_id}",
        "matched": action.matched,
        "done": action.done,
        "failed": action.failed,
    }
    note_event(TenantRef(action.tenant_id), EventType.CACHE_REFRESHED, action.public_id, data)


def _note_batch(batch: CurationAction) -> None:
    assert batch.tenant_id is not None  # noqa: S101 - a batch is a tenant's
    data = {
        "id": batch.public_id,
        "status": batch.state,
        "counts": counts_of(batch, {}),
        "metadata": batch.metadata or {},
    }
    note_event(
        TenantRef(batch.tenant_id),
        EventType.BATCH_COMPLETED,
        batch.public_id,
        data,
        endpoint_id=batch.callback_id,
        url=batch.callback_url,
    )
