"""Which deliveries are sent next: claims like those of `claim.py`, few at once for an endpoint, in order per subject.

A claim's lease ends at `not_before` too, so that what is due has one mark, and one index. What becomes of a delivery
is in `service/webhooks/outcomes.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from synth.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.clock import database_now
from synth.models.prepared import words
from synth.models.states import OPEN, State
from synth.queue.claim import Worker

# To an endpoint that answers well; to any other one at a time.
AT_ONCE = 4
# Who looks for work waits for what is due as soon as this: the sweeper rings every 3 s, and first pauses are short.
SOON = timedelta(seconds=6)


@dataclass(frozen=True, slots=True)
class Claims:
    """What a process has taken up. `lost` was in the hands of one that did not live to note what came of it."""

    to_send: list[WebhookDelivery] = field(default_factory=list)
    lost: list[WebhookDelivery] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many more deliveries a process takes up.

    `doubtful`: to endpoints that fail, and to those that it knows as `slow`. Those that it knows as `prompt` may get
    several at once as long as they do not fail.
    """

    sound: int
    doubtful: int
    prompt: frozenset[UUID] = frozenset()
    slow: frozenset[UUID] = frozenset()
    prompt_only: bool = False


def deliveries_due(*, within: timedelta = SOON) -> bool:
    """Whether there is anything to route, or to send now or soon: the sweeper rings for it."""
    if WebhookEvent.objects.filter(routed=False).exists():
        return True
    mine = _ready(database_now() + within).filter(endpoint_id=OuterRef("id"))
    return WebhookEndpoint.objects.filter(Exists(mine)).exists()


def claim_deliveries(worker: Worker, room: Room) -> Claims:
    """As many as there is room for, fairly over the endpoints. Their events and endpoints are loaded.

    Those of endpoints that are disabled are canceled meanwhile. What was lost has had its try, and the caller notes
    that: one whose sending kills its sender must not be sent for ever.
    """
    chosen = _choose(worker, room)
    return _take(chosen, worker, room) if chosen else Claims()


def fenced_delivery(claim: WebhookDelivery) -> QuerySet[WebhookDelivery]:
    """The claimed row, as long as the claim is still good."""
    return WebhookDelivery.objects.filter(id=claim.id, attempt=claim.attempt, state=State.RUNNING)


def cancel_open(endpoints: Iterable[UUID]) -> int:
    """What waits for these endpoints will not be sent, and can be replayed; what is being sent ends as it may."""
    waiting = WebhookDelivery.objects.filter(endpoint_id__in=list(endpoints), state=State.QUEUED)
    return waiting.update(state=State.CANCELED, ended_at=database_now())


def _open() -> QuerySet[WebhookDelivery]:
    """In the words of the condition of its indexes, or SQLite looks through all that was ever sent to an endpoint."""
    return WebhookDelivery.objects.filter(state__in=words(OPEN))


def _ready(now: datetime) -> QuerySet[WebhookDelivery]:
    """What is due, and follows nothing of its subject that this endpoint has not got yet."""
    mine = _open().filter(endpoint_id=OuterRef("endpoint_id"), subject=OuterRef("subject"))
    before = Q(created_at__lt=OuterRef("created_at")) | Q(created_at=OuterRef("created_at"), id__lt=OuterRef("id"))
    return _open().filter(~Exists(mine.filter(before)), not_before__lte=now)


def _running(now: datetime, worker: Worker) -> QuerySet[WebhookDelivery]:
    """Under a lease. Whatever waits for longer than that is passed over in the index."""
    latest = now + timedelta(seconds=2 * worker.lease)
    return _open().filter(state=State.RUNNING, not_before__gt=now, not_before__lte=latest)


def _choose(worker: Worker, room: Room) -> list[UUID]:
    """Endpoints that may get more, chosen without a lock: those with the least in hand first, then the longest due."""
    now = database_now()
    mine = _ready(now).filter(endpoint_id=OuterRef("id"))
    in_hand = _running(now, worker).filter(endpoint_id=OuterRef("id")).order_by().values("endpoint_id")
    running = Subquery(in_hand.annotate(n=Count("id")).values("n"), output_field=IntegerField())
    allowed = WebhookEndpoint.objects.filter(id__in=room.prompt) if room.prompt_only else WebhookEndpoint.objects.all()
    due = allowed.filter(Exists(mine)).annotate(
        running=Coalesce(running, 0), oldest=Subquery(mine.order_by("not_before").values("not_before")[:1])
    )
    several = Q(failing_since=None, id__in=room.prompt, running__lt=AT_ONCE)
    may = due.filter(Q(running=0) | several).order_by("running", "oldest").values_list("id", flat=True)
    doubtful = Q(failing_since__isnull=False) | Q(id__in=room.slow)
    return list(chain(may.exclude(doubtful)[: room.sound], may.filter(doubtful)[: room.doubtful]))


@transaction.atomic
def _take(chosen: list[UUID], worker: Worker, room: Room) -> Claims:
    """Under the lock of each endpoint, so that two processes together send it no more than one may."""
    now = database_now()
    locked = WebhookEndpoint.objects.select_for_update(skip_locked=True, no_key=True).in_bulk(chosen)
    running = dict(
        _running(now, worker).filter(endpoint_id__in=chosen).order_by().values_list("endpoint_id").annotate(Count("id"))
    )
    share = max(1, room.sound // len(chosen))
    claimed: list[WebhookDelivery] = []
    for endpoint in (locked[each] for each in chosen if each in locked):
        if endpoint.status == WebhookEndpoint.Status.DISABLED:
            continue
        most = AT_ONCE if endpoint.failing_since is None and endpoint.id in room.prompt else 1
        claimed += _next_of(endpoint, now, most=min(share, most - running.get(endpoint.id, 0)))
    cancel_open(each.id for each in locked.values() if each.status == WebhookEndpoint.Status.DISABLED)
    lost = [row for row in claimed if row.state == State.RUNNING]
    to_send = [row for row in claimed if row.state != State.RUNNING]
    _lease(to_send, worker, now)
    return Claims(to_send, lost)


def _next_of(endpoint: WebhookEndpoint, now: datetime, *, most: int) -> list[WebhookDelivery]:
    rows = _ready(now).filter(endpoint=endpoint).select_related("event").order_by("not_before", "created_at", "id")
    found = list(rows.select_for_update(skip_locked=True, of=("self",))[: max(0, most)])
    for row in found:
        row.endpoint = endpoint
    return found


def _lease(rows: list[WebhookDelivery], worker: Worker, now: datetime) -> None:
    until = now + timedelta(seconds=worker.lease)
    changes = {"state": State.RUNNING, "worker": worker.name, "lease_until": until, "not_before": until}
    WebhookDelivery.objects.filter(id__in=[row.id for row in rows]).update(attempt=F("attempt") + 1, **changes)
    for row in rows:
        row.attempt += 1
        for name, value in changes.items():
            setattr(row, name, value)
