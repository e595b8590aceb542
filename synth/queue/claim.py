"""Who works on what: claims are leases judged by the database's clock, and attempts fence their results.

Engine workers claim syntheses fairly, io workers claim renderings in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import TypeVar

from django.db import transaction
from django.db.models import Count, Min, Model, Q, QuerySet

from synth.models import Rendering, Synthesis
from synth.models.clock import database_now
from synth.models.states import OPEN, Priority, State

Row = TypeVar("Row", Synthesis, Rendering)

MAX_ATTEMPTS = 3
LOWER_CLASSES_EVERY = 8
_claims = count(1)


@dataclass(frozen=True, slots=True)
class Worker:
    """Who claims: a name for people, and how long one lease lasts in seconds."""

    name: str
    lease: float


def claimable(now: datetime) -> Q:
    """Rows that wait and are due, and rows whose lease has run out."""
    due = Q(not_before=None) | Q(not_before__lte=now)
    return Q(state=State.QUEUED) & due | Q(state=State.RUNNING, lease_until__lt=now)


def claim_synthesis(engine: str, model_version: str, worker: Worker) -> Synthesis | None:
    """The next sentence for this engine by the fair policy, or None.

    Interactive work comes first, but one claim in eight goes to what has waited longest below it; within a class
    the tenant with the least running work comes first, then the oldest.
    """
    mine = Synthesis.objects.filter(engine=engine, model_version=model_version, state__in=OPEN)
    lower_first = next(_claims) % LOWER_CLASSES_EVERY == 0
    for _ in range(5):  # another worker may take a tenant's last one between the choice and the claim
        candidates = _candidates(mine, lower_first=lower_first)
        if candidates is None:
            return None
        claimed = _claim_first(candidates, worker)
        if claimed is not None:
            return claimed
    return None


def claim_rendering(worker: Worker) -> Rendering | None:
    """The next rendering whose sentences are all in, or None."""
    waiting = Rendering.objects.filter(claimable(database_now())).order_by("priority", "created_at", "id")
    return _claim_first(waiting, worker)


def fenced(claim: Synthesis | Rendering) -> QuerySet[Model]:
    """The claimed row, as long as the claim is still good. No row: throw the result away."""
    return type(claim)._default_manager.filter(id=claim.id, attempt=claim.attempt, state=State.RUNNING)  # noqa: SLF001


def renew(claim: Synthesis | Rendering, lease: float) -> bool:
    """Lengthen the lease; False when the claim is lost."""
    until = database_now() + timedelta(seconds=lease)
    return fenced(claim).update(lease_until=until) == 1


def _candidates(mine: QuerySet[Synthesis], *, lower_first: bool) -> QuerySet[Synthesis] | None:
    """The open syntheses of the tenant whose turn it is, the oldest first; None when there is nothing to do."""
    ready = mine.filter(claimable(database_now()))
    if lower_first:
        lower = ready.filter(priority__gt=Priority.INTERACTIVE).order_by("created_at", "id")
        if lower.exists():
            return lower
    tenants = list(ready.values("priority", "tenant_id").annotate(oldest=Min("created_at")).order_by("priority"))
    if not tenants:
        return None
    best_class = tenants[0]["priority"]
    rivals = [row for row in tenants if row["priority"] == best_class]
    running = _running_by_tenant(mine) if len(rivals) > 1 else {}
    chosen = min(rivals, key=lambda row: (running.get(row["tenant_id"], 0), row["oldest"]))
    return ready.filter(priority=best_class, tenant_id=chosen["tenant_id"]).order_by("created_at", "id")


def _running_by_tenant(mine: QuerySet[Synthesis]) -> dict[object, int]:
    rows = mine.filter(state=State.RUNNING, lease_until__gte=database_now()).values("tenant_id").annotate(n=Count("id"))
    return {row["tenant_id"]: row["n"] for row in rows.order_by()}


@transaction.atomic
def _claim_first(candidates: QuerySet[Row], worker: Worker) -> Row | None:
    """Take the first row that nobody else is taking: SKIP LOCKED on PostgreSQL, one writer at a time on SQLite."""
    row = candidates.select_for_update(skip_locked=True).first()
    if row is None:
        return None
    now = database_now()
    row.attempt += 1
    row.state = State.RUNNING
    row.worker = worker.name
    row.lease_until = now + timedelta(seconds=worker.lease)
    fields = ["attempt", "state", "worker", "lease_until"]
    if isinstance(row, Synthesis):
        row.started_at = now
        fields.append("started_at")
    row.save(update_fields=fields)
    return row


def open_engines() -> Sequence[str]:
    """Engines that have work which could be claimed now: the sweeper rings them."""
    rows = Synthesis.objects.filter(claimable(database_now())).order_by().values_list("engine", flat=True)
    return list(rows.distinct())


def has_work(engine: str, model_version: str) -> bool:
    rows = Synthesis.objects.filter(claimable(database_now()), engine=engine, model_version=model_version)
    return rows.exists()


def renderings_wait() -> bool:
    return Rendering.objects.filter(claimable(database_now())).exists()
