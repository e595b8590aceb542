"""Who works on what: claims are leases judged by the database's clock, and attempts fence their results.

Engine workers claim syntheses and io workers renderings by turns (fairness.py), io workers uploaded voices in order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeAlias, TypeVar

from django.db import transaction
from django.db.models import Model, Q, QuerySet

from synth.models import ClonedVoice, Rendering, Synthesis
from synth.models.clock import database_now
from synth.models.locks import one_at_a_time
from synth.models.prepared import Change, Parameter, prepared_rows, prepared_update
from synth.models.states import CLAIMABLE, OPEN, State
from synth.queue.fairness import Rotation, Turn, renderings_waiting, running_by_tenant, running_of, sentences_waiting

Claimed: TypeAlias = Synthesis | Rendering | ClonedVoice
Row = TypeVar("Row", Synthesis, Rendering, ClonedVoice)

MAX_ATTEMPTS = 3
TRIES = 5  # another worker may take a tenant's last one between the choice and the claim
# Voices that are deleted, and those whose upload is needed no longer.
ERASABLE = Q(state=State.CANCELED) | Q(upload=ClonedVoice.Upload.DUE)
_spoken, _rendered = Rotation(), Rotation()


@dataclass(frozen=True, slots=True)
class Worker:
    """Who claims: a name for people, and how long one lease lasts in seconds."""

    name: str
    lease: float


def claimable(now: datetime | Parameter) -> Q:
    """Rows that wait and are due, and rows whose lease has run out."""
    due = Q(not_before=None) | Q(not_before__lte=now)
    return Q(state=State.QUEUED) & due | Q(state=State.RUNNING, lease_until__lt=now)


def claim_synthesis(engine: str, model_version: str, worker: Worker) -> Synthesis | None:
    """The next sentence for this engine by the fair policy, or None.

    Interactive work comes first, but one claim in eight goes to what has waited longest below it; within a class
    the tenant with the least running work comes first, then the one that was served longest ago, then the oldest. A
    tenant that has as much running as it may is passed over.
    """
    below = _spoken.goes_below()
    for _ in range(TRIES):
        turns = sentences_waiting(engine, model_version)
        compared = len(turns) > 1 or any(turn.most_running for turn in turns)
        turn = _spoken.choose(turns, running_by_tenant() if compared else {}, below=below)
        if turn is None:
            return None
        chosen = {"priority": turn.priority, "tenant_id": turn.tenant_id}
        claimed = _take_within(turn, partial(_oldest_of, engine=engine, version=model_version, **chosen), worker)
        if claimed is not None:
            _spoken.note(turn.tenant_id)
            return claimed
    return None


def claim_rendering(worker: Worker) -> Rendering | None:
    """The next rendering whose sentences are all in, by the same policy, or None.

    It takes no heed of what runs: a rendering is short, and only engines are what tenants may have so much of.
    """
    below = _rendered.goes_below()
    for _ in range(TRIES):
        turn = _rendered.choose(renderings_waiting(), {}, below=below)
        if turn is None:
            return None
        chosen = {"priority": turn.priority, "tenant_id": turn.tenant_id}
        claimed = _take(partial(_oldest_rendering_of, **chosen), worker)
        if claimed is not None:
            _rendered.note(turn.tenant_id)
            return claimed
    return None


def claim_voice(worker: Worker) -> ClonedVoice | None:
    """The next upload that is to be decoded, or None."""
    return _take(_next_voice, worker)


def fenced(claim: Claimed) -> QuerySet[Model]:
    """The claimed row, as long as the claim is still good. No row: throw the result away."""
    return type(claim)._default_manager.filter(id=claim.id, attempt=claim.attempt, state=State.RUNNING)  # noqa: SLF001


def renew(claim: Claimed, lease: float) -> bool:
    """Lengthen the lease; False when the claim is lost."""
    until = database_now() + timedelta(seconds=lease)
    return fenced(claim).update(lease_until=until) == 1


def _take_within(turn: Turn, candidates: Callable[..., list[Row]], worker: Worker) -> Row | None:
    """Take one, unless others have meanwhile taken as many as the tenant may have running."""
    if not turn.most_running:
        return _take(candidates, worker)
    with transaction.atomic():
        one_at_a_time(f"running of {turn.tenant_id}")
        if running_of(turn.tenant_id) >= turn.most_running:
            return None
        return _take(candidates, worker)


@transaction.atomic
def _take(candidates: Callable[..., list[Row]], worker: Worker) -> Row | None:
    """Take the first row that nobody else is taking: SKIP LOCKED on PostgreSQL, one writer at a time on SQLite."""
    now = database_now()
    rows = candidates(now=now)
    if not rows:
        return None
    row = rows[0]
    row.attempt += 1
    row.state = State.RUNNING
    row.worker = worker.name
    row.lease_until = now + timedelta(seconds=worker.lease)
    changes = {"row_id": row.id, "attempt": row.attempt, "worker": row.worker, "lease_until": row.lease_until}
    if isinstance(row, Synthesis):
        row.started_at = now
        _start_synthesis(started_at=now, **changes)
    elif isinstance(row, ClonedVoice):
        row.save(update_fields=["attempt", "state", "worker", "lease_until"])
    else:
        _start_rendering(**changes)
    return row


# --- The queries ----------------------------------------------------------------------------------------------------


def _ready(engine: Any, version: Any, now: Any) -> QuerySet[Synthesis]:
    return Synthesis.objects.filter(claimable(now), engine=engine, model_version=version, state__in=OPEN)


@prepared_rows
def _oldest_of(engine: Any, version: Any, tenant_id: Any, priority: Any, now: Any) -> QuerySet[Synthesis]:
    rows = _ready(engine, version, now).filter(priority=priority, tenant_id=tenant_id)
    return rows.order_by("created_at", "id").select_for_update(skip_locked=True)[:1]


@prepared_rows
def _oldest_rendering_of(tenant_id: Any, priority: Any, now: Any) -> QuerySet[Rendering]:
    rows = Rendering.objects.filter(claimable(now), state__in=CLAIMABLE, priority=priority, tenant_id=tenant_id)
    return rows.order_by("created_at", "id").select_for_update(skip_locked=True)[:1]


@prepared_update
def _start_synthesis(row_id: Any, attempt: Any, worker: Any, lease_until: Any, started_at: Any) -> Change:
    changes = {"attempt": attempt, "worker": worker, "lease_until": lease_until, "started_at": started_at}
    return Synthesis.objects.filter(id=row_id), {"state": State.RUNNING, **changes}


@prepared_update
def _start_rendering(row_id: Any, attempt: Any, worker: Any, lease_until: Any) -> Change:
    changes = {"attempt": attempt, "worker": worker, "lease_until": lease_until}
    return Rendering.objects.filter(id=row_id), {"state": State.RUNNING, **changes}


@prepared_rows
def _ready_syntheses(engine: Any, version: Any, now: Any) -> QuerySet[Synthesis, Any]:
    return _ready(engine, version, now).order_by().values_list("id")[:1]


@prepared_rows
def _ready_renderings(now: Any) -> QuerySet[Rendering, Any]:
    return Rendering.objects.filter(claimable(now), state__in=CLAIMABLE).order_by().values_list("id")[:1]


def _next_voice(now: datetime) -> list[ClonedVoice]:
    rows = ClonedVoice.objects.filter(claimable(now)).order_by("created_at", "id")
    return list(rows.select_for_update(skip_locked=True)[:1])


def voices_wait() -> bool:
    """Whether there is an upload to decode or to delete, or a deleted voice to be erased."""
    return ClonedVoice.objects.filter(claimable(database_now()) | ERASABLE).exists()


def open_engines() -> Sequence[str]:
    """Engines that have work which could be claimed now: the sweeper rings them."""
    rows = Synthesis.objects.filter(claimable(database_now())).order_by().values_list("engine", flat=True)
    return list(rows.distinct())


def has_work(engine: str, model_version: str) -> bool:
    return bool(_ready_syntheses(engine=engine, version=model_version, now=database_now()))


def renderings_wait() -> bool:
    return bool(_ready_renderings(now=database_now()))
