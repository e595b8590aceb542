"""Cancels purges, refreshes, warmings and batches: the doors call `cancel_action`, and `stuck.py` what is behind it."""

from django.db import transaction
from django.db.models import QuerySet

from synth.models import CurationAction, CurationBlock, CurationLine, Job, Rendering
from synth.models.states import OPEN, State
from synth.service.endings import cancel_job
from synth.service.progress import end_action, end_line, end_line_as
from tenants.types import TenantRef

Kind = CurationAction.Kind
Outcome = CurationLine.Outcome


def cancel_action(action: CurationAction) -> CurationAction:
    """Do no more of it. What is done stays done; sounds that are being made for it alone are canceled."""
    _cancel(action)
    action.refresh_from_db()
    return action


@transaction.atomic
def _cancel(action: CurationAction) -> None:
    """Lines are locked before the action, as by whoever counts one; all of them, so that none is begun meanwhile."""
    still_open = CurationAction.objects.filter(id=action.id, state__in=OPEN)
    if action.kind == Kind.BATCH:  # one that is still being stored is its request's
        still_open = still_open.exclude(state=State.WAITING)
    if not still_open.exists():
        return
    end_lines(action)
    if end_action(action, State.CANCELED):
        _end_waiting(action)  # lines that were made meanwhile, of a block or of the next entries


def end_lines(action: CurationAction) -> None:
    """End all lines that have not ended, and detach their jobs. Called in a transaction."""
    _end_waiting(action)
    begun = list(_lines(action, Outcome.OPEN).order_by("number").select_for_update())
    # All of their renderings at first, in the order of everybody else: not in that of the lines.
    jobs = Job.objects.filter(id__in=[line.job_id for line in begun if line.job_id])
    renderings = Rendering.objects.select_for_update().filter(id__in=jobs.values("rendering_id"))
    list(renderings.order_by("id").values_list("id", flat=True))
    for line in begun:
        job = cancel_job(TenantRef(line.tenant_id), line.job_id) if line.job_id else None
        if job is None or job.state == State.CANCELED:  # where there is none yet, its worker cancels it
            end_line(action, line, Outcome.CANCELED)
        else:
            end_line_as(action, line, job)


def _end_waiting(action: CurationAction) -> None:
    """A batch keeps its lines, which are its result."""
    if action.kind == Kind.BATCH:
        _lines(action, Outcome.WAITING).update(outcome=Outcome.CANCELED)
    else:
        CurationBlock.objects.filter(action=action).delete()
        _lines(action, Outcome.WAITING).delete()


def _lines(action: CurationAction, outcome: str) -> QuerySet[CurationLine]:
    return CurationLine.objects.filter(action=action, outcome=outcome)
