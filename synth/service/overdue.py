"""What the sweeper's bells, or other tasks of the scheduler, should have put right long ago. Doctor tells of it."""

from collections.abc import Callable
from datetime import timedelta

from django.db.models import Exists, Model, OuterRef, QuerySet
from django.utils import timezone

from synth import wiring
from synth.models import ClonedVoice, DiscardedObject, Job, Rendering, Synthesis, WebhookDelivery, WebhookEvent
from synth.models.clock import database_now
from synth.models.states import OPEN, State
from synth.queue.claim import ERASABLE, claimable
from synth.service.accounting import account_jobs
from synth.service.inspection import Check
from synth.service.object_sweep import sweep_objects

LONG = timedelta(minutes=1)
LATE = timedelta(minutes=10)
VERY_LATE = timedelta(hours=2)


def _idle() -> QuerySet[Synthesis]:
    """They wait, and nobody speaks the engine's: a long queue alone is nothing wrong."""
    now = database_now()
    busy = Synthesis.objects.filter(engine=OuterRef("engine"), started_at__gte=now - LATE)
    return Synthesis.objects.filter(claimable(now), created_at__lt=now - LATE, state__in=OPEN).filter(~Exists(busy))


def _not_joined() -> QuerySet[Rendering]:
    """As above. How long it is that the last sentence came in, no row tells."""
    now = database_now()
    if Rendering.objects.filter(ended_at__gte=now - LATE).exists():
        return Rendering.objects.none()
    return Rendering.objects.filter(claimable(now), created_at__lt=now - LATE, state=State.QUEUED)


def _not_deleted() -> QuerySet[DiscardedObject]:
    return DiscardedObject.objects.filter(not_before__lt=database_now() - VERY_LATE)


def _not_accounted() -> QuerySet[Job]:
    return Job.objects.filter(accounted=False, ended_at__lt=timezone.now() - LATE)


def _not_erased() -> QuerySet[ClonedVoice]:
    return ClonedVoice.objects.filter(ERASABLE, ended_at__lt=database_now() - LATE)


def _not_routed() -> QuerySet[WebhookEvent]:
    return WebhookEvent.objects.filter(routed=False, created_at__lt=timezone.now() - LONG)


def _not_sent() -> QuerySet[WebhookDelivery]:
    """To an endpoint that fails, few are sent at a time, and the others have to wait."""
    due = WebhookDelivery.objects.filter(state=State.QUEUED, not_before__lt=database_now() - LATE)
    return due.filter(endpoint__failing_since=None)


def _lapsed(machine: type[Model]) -> Callable[[], QuerySet[Model]]:
    """Work whose worker is gone, and which no other has taken over."""

    def find() -> QuerySet[Model]:
        until = database_now() - LONG
        return machine._default_manager.filter(state=State.RUNNING, lease_until__lt=until)  # noqa: SLF001

    return find


def _ring_engines() -> None:
    for engine in Synthesis.objects.filter(state__in=OPEN).order_by().values_list("engine", flat=True).distinct():
        wiring.doorbell().ring_engine(engine)


NO_WORKER = "Is a worker for it running? An engine's is started with REFRAIN_ENGINES, an io worker with --queues io."


def _worker_is_gone(name: str, machine: type[Model], ring: Callable[[], object]) -> Check:
    return Check(
        name=f"{name} whose worker is gone",
        says="Their lease ran out over a minute ago.",
        find=_lapsed(machine),
        repair=ring,
        advice=NO_WORKER,
    )


OVERDUE = (
    Check(
        name="sentences that nobody speaks",
        says="They have waited for over ten minutes, and no worker has spoken any of their engine's since.",
        find=_idle,
        repair=_ring_engines,
        advice=NO_WORKER,
    ),
    Check(
        name="renditions that nobody joins",
        says="All their sentences are in for over ten minutes.",
        find=_not_joined,
        repair=lambda: wiring.doorbell().ring_io(),
        advice=NO_WORKER,
    ),
    _worker_is_gone("sentences", Synthesis, _ring_engines),
    _worker_is_gone("renderings", Rendering, lambda: wiring.doorbell().ring_io()),
    _worker_is_gone("voices", ClonedVoice, lambda: wiring.doorbell().ring_voices()),
    _worker_is_gone("deliveries", WebhookDelivery, lambda: wiring.doorbell().ring_webhooks()),
    Check(
        name="events without deliveries",
        says="They are noted for over a minute, and nobody has sent them off.",
        find=_not_routed,
        repair=lambda: wiring.doorbell().ring_webhooks(),
        advice=NO_WORKER,
    ),
    Check(
        name="deliveries not sent",
        says="They are due for over ten minutes, and their endpoint does not fail.",
        find=_not_sent,
        repair=lambda: wiring.doorbell().ring_webhooks(),
        advice=NO_WORKER,
    ),
    Check(
        name="deleted voices not erased",
        says="What was made of them is still there after ten minutes.",
        find=_not_erased,
        repair=lambda: wiring.doorbell().ring_voices(),
        advice="Does the object store answer, and an io worker run?",
    ),
    Check(
        name="jobs without usage",
        says="They ended over ten minutes ago, and their usage is not written.",
        find=_not_accounted,
        repair=account_jobs,
    ),
    Check(
        name="discarded objects not deleted",
        says="No URL of them runs any more for over two hours.",
        find=_not_deleted,
        repair=sweep_objects,
        advice="Does the object store answer, and the scheduler run? 200 go a minute.",
    ),
)
