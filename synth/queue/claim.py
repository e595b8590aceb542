"""Who works on what: claims are leases judged by the database's clock, and attempts fence their results.

Engine workers claim syntheses fairly, io workers claim renderings and uploaded voices in order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, TypeAlias, TypeVar

from django.db import transaction
from django.db.models import Count, Min, Model, Q, QuerySet

from synth.models import ClonedVoice, Rendering, Synthesis
from synth.models.clock import database_now
from synth.models.prepared import Change, Parameter, prepared_rows, prepared_update
from synth.models.states import OPEN, Priority, State

Claimed: TypeAlias = Synthesis | Rendering | ClonedVoice
Row = TypeVar("Row", Synthesis, Rendering, ClonedVoice)

MAX_ATTEMPTS = 3
LOWER_CLASSES_EVERY = 8
_claims = count(1)


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
    the tenant with the least running work comes first, then the oldest.
    """
    lower_first = next(_claims) % LOWER_CLASSES_EVERY == 0
    for _ in range(5):  # another worker may take a tenant's last one between the choice and the claim
        if lower_first:
            lower = _take(partial(_oldest_below, engine=engine, version=model_version), worker)
            if lower is not None:
                return lower
        turn = _whose_turn(engine, model_version)
        if turn is None:
            return None
        claimed = _take(partial(_oldest_of, engine=engine, version=model_version, **turn), worker)
        if claimed is not None:
            return claimed
    return None


def claim_rendering(worker: Worker) -> Rendering | None:
    """The next rendering whose sentences are all in, or None."""
    return _take(_next_rendering, worker)


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


def _whose_turn(engine: str, model_version: str) -> dict[str, Any] | None:
    """The class and the tenant to serve next, chosen without a lock; None when there is nothing to do."""
    waiting = _tenants_waiting(engine=engine, version=model_version, now=database_now())
    if not waiting:
        return None
    best_class = waiting[0][0]
    rivals = [(tenant_id, oldest) for priority, tenant_id, oldest in waiting if priority == best_class]
    running = _running_by_tenant(engine, model_version) if len(rivals) > 1 else {}
    tenant_id, _ = min(rivals, key=lambda rival: (running.get(rival[0], 0), rival[1]))
    return {"priority": best_class, "tenant_id": tenant_id}


def _running_by_tenant(engine: str, model_version: str) -> dict[object, int]:
    rows = Synthesis.objects.filter(
        engine=engine, model_version=model_version, state=State.RUNNING, lease_until__gte=database_now()
    )
    return dict(rows.order_by().values_list("tenant_id").annotate(n=Count("id")))


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
def _tenants_waiting(engine: Any, version: Any, now: Any) -> QuerySet[Synthesis, Any]:
    rows = _ready(engine, version, now).order_by("priority").values("priority", "tenant_id")
    return rows.annotate(oldest=Min("created_at")).values_list("priority", "tenant_id", "oldest")


@prepared_rows
def _oldest_below(engine: Any, version: Any, now: Any) -> QuerySet[Synthesis]:
    rows = _ready(engine, version, now).filter(priority__gt=Priority.INTERACTIVE)
    return rows.order_by("created_at", "id").select_for_update(skip_locked=True)[:1]


@prepared_rows
def _oldest_of(engine: Any, version: Any, tenant_id: Any, priority: Any, now: Any) -> QuerySet[Synthesis]:
    rows = _ready(engine, version, now).filter(priority=priority, tenant_id=tenant_id)
    return rows.order_by("created_at", "id").select_for_update(skip_locked=True)[:1]


@prepared_rows
def _next_rendering(now: Any) -> QuerySet[Rendering]:
    rows = Rendering.objects.filter(claimable(now)).order_by("priority", "created_at", "id")
    return rows.select_for_update(skip_locked=True)[:1]


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
    return Rendering.objects.filter(claimable(now)).order_by().values_list("id")[:1]


def _next_voice(now: datetime) -> list[ClonedVoice]:
    rows = ClonedVoice.objects.filter(claimable(now)).order_by("created_at", "id")
    return list(rows.select_for_update(skip_locked=True)[:1])


def voices_wait() -> bool:
    """Whether there is an upload to decode or to delete, or a deleted voice to be erased."""
    left = Q(state=State.CANCELED) | Q(upload=ClonedVoice.Upload.DUE)
    return ClonedVoice.objects.filter(claimable(database_now()) | left).exists()


def open_engines() -> Sequence[str]:
    """Engines that have work which could be claimed now: the sweeper rings them."""
    rows = Synthesis.objects.filter(claimable(database_now())).order_by().values_list("engine", flat=True)
    return list(rows.distinct())


def has_work(engine: str, model_version: str) -> bool:
    return bool(_ready_syntheses(engine=engine, version=model_version, now=database_now()))


def renderings_wait() -> bool:
    return bool(_ready_renderings(now=database_now()))
