"""Rows that have outlived their state: what they are, and how each is repaired. The sweeper repairs, doctor tells.

Every repair is bounded, asks again under its own locks, and does no harm when two do it at once.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from synth import cards, wiring
from synth.models import (
    ClonedVoice,
    CurationAction,
    CurationBlock,
    CurationLine,
    EngineCardRow,
    IdempotentRequest,
    Job,
    Rendering,
    RenderingPart,
    Synthesis,
    WebhookEvent,
)
from synth.models.chunks import chunks
from synth.models.clock import database_now
from synth.models.states import ENDED, OPEN, State
from synth.queue.claim import claimable
from synth.queue.wakeup import announce
from synth.service.cancelling import end_lines
from synth.service.endings import Failure, cancel_forsaken, cancel_unneeded, fail_renderings, hand_on
from synth.service.inspection import Check
from synth.service.voices import give_up_unstored, unstored
from synth.service.warming import fail_unloaded, unloaded
from synth.service.webhooks.ended_jobs import KINDS, tell_of
from tenants.ids import public_id

# Each is far above what it takes in good order: those who are at it right now must not be disturbed.
STUCK_AFTER = timedelta(seconds=10)
LONG_AFTER = timedelta(minutes=1)
IDLE_AFTER = timedelta(minutes=10)
LEFT_AFTER = timedelta(hours=1)
LOOKED_BACK = timedelta(hours=2)
BATCH = 200
LINES_OVER = (CurationLine.Outcome.WAITING, CurationLine.Outcome.OPEN)


# --- Renderings, sentences, jobs --------------------------------------------------------------------------------------


def _waiting() -> QuerySet[Rendering]:
    return Rendering.objects.filter(state=State.WAITING, created_at__lt=timezone.now() - STUCK_AFTER)


def _complete() -> QuerySet[Rendering]:
    return _waiting().exclude(parts__digest="").order_by("created_at")


@transaction.atomic
def _hand_on_complete() -> None:
    if hand_on(_complete().values_list("id", flat=True)[:BATCH]):
        transaction.on_commit(wiring.doorbell().ring_io)


def _stranded() -> QuerySet[Rendering]:
    nobody = Q(synthesis=None) | Q(synthesis__state__in=ENDED)
    waiting = Q(rendering__state=State.WAITING, rendering__created_at__lt=timezone.now() - STUCK_AFTER)
    parts = RenderingPart.objects.filter(nobody, waiting, digest="").order_by()
    return Rendering.objects.filter(id__in=parts.values("rendering_id")).order_by("id")


@transaction.atomic
def _fail_stranded() -> None:
    ids = list(_stranded().values_list("id", flat=True)[:BATCH])
    ended = fail_renderings(Rendering.objects.filter(id__in=ids), Failure(code="sentences_lost"), database_now())
    transaction.on_commit(lambda: announce(wiring.redis_unless_away, ended))


def _forsaken() -> QuerySet[Rendering]:
    attached = Job.objects.filter(rendering=OuterRef("id"), state__in=OPEN)
    old = Rendering.objects.filter(state__in=OPEN, created_at__lt=timezone.now() - STUCK_AFTER)
    return old.filter(~Exists(attached)).order_by("id")


@transaction.atomic
def _cancel_forsaken() -> None:
    cancel_forsaken(_forsaken().values_list("id", flat=True)[:BATCH], database_now())


def _left_open() -> QuerySet[Job]:
    return Job.objects.filter(state__in=OPEN, rendering__state__in=ENDED).order_by("id")


@transaction.atomic
def _end_left_open() -> None:
    """As their renderings ended, which end no more."""
    jobs = _left_open().select_related("rendering").select_for_update(skip_locked=True, of=("self",))
    now = database_now()
    for job in jobs[:BATCH]:
        of = job.rendering
        ended = {"state": of.state, "error_code": of.error_code, "error_detail": of.error_detail}
        Job.objects.filter(id=job.id, state__in=OPEN).update(ended_at=now, **ended)
        tell_of([job], State(of.state), error_code=of.error_code)


def _unneeded() -> QuerySet[Synthesis]:
    needed = RenderingPart.objects.filter(synthesis=OuterRef("id"), rendering__state__in=OPEN)
    old = Synthesis.objects.filter(state=State.QUEUED, created_at__lt=timezone.now() - IDLE_AFTER)
    return old.filter(~Exists(needed)).order_by("id")


@transaction.atomic
def _cancel_unneeded() -> None:
    cancel_unneeded(Q(id__in=list(_unneeded().values_list("id", flat=True)[:BATCH])), database_now())


def _of_gone_versions() -> QuerySet[Synthesis]:
    """No worker speaks this version any more, and it is no longer current."""
    now = database_now()
    of_version = EngineCardRow.objects.filter(name=OuterRef("engine"), model_version=OuterRef("model_version"))
    alive = of_version.filter(Q(current=True) | Q(seen_at__gte=now - cards.GONE_AFTER))
    old = Synthesis.objects.filter(claimable(now), created_at__lt=now - cards.GONE_AFTER, state__in=OPEN)
    return old.filter(~Exists(alive)).order_by("created_at")


def _fail_gone_versions() -> None:
    for row in _of_gone_versions()[:BATCH]:
        fail_unclaimed(row, Failure(code="engine_version_gone"))


@transaction.atomic
def fail_unclaimed(row: Synthesis, failure: Failure) -> None:
    now = database_now()
    if Synthesis.objects.filter(claimable(now), id=row.id).update(
        state=State.FAILED, ended_at=now, lease_until=None, error_code=failure.code
    ):
        ended = fail_renderings(Rendering.objects.filter(parts__synthesis=row), failure, now)
        transaction.on_commit(lambda: announce(wiring.redis_unless_away, ended))


def _not_told() -> list[str]:
    """Ids of recent jobs that ended with a callback and without an event. Only a hand in the database makes such."""
    now = timezone.now()
    lately = Job.objects.filter(created_at__gt=now - LOOKED_BACK, ended_at__lt=now - LONG_AFTER, state__in=ENDED)
    named = lately.filter(callback__isnull=False).order_by().values_list("id", flat=True)
    by_subject = {public_id("job", job_id): str(job_id) for job_id in named}
    for chunk in chunks(list(by_subject)):
        told = WebhookEvent.objects.filter(type__in=KINDS.values(), subject__in=chunk)  # as their index has it
        for subject in told.order_by().values_list("subject", flat=True):
            by_subject.pop(subject, None)
    return list(by_subject.values())


@transaction.atomic
def _tell() -> None:
    for job in Job.objects.filter(id__in=_not_told()[:BATCH], state__in=ENDED):
        tell_of([job], State(job.state), error_code=job.error_code)


# --- Actions ----------------------------------------------------------------------------------------------------------


def _lines_of_ended() -> QuerySet[CurationLine]:
    over = Q(action__state__in=ENDED, action__ended_at__lt=timezone.now() - LONG_AFTER)
    return CurationLine.objects.filter(over, outcome__in=LINES_OVER).order_by("id")


def _end_lines_of_ended() -> None:
    """Those that were begun, or made of a list, at the moment when their action was canceled."""
    with_lines = {line.action for line in _lines_of_ended().select_related("action")[:BATCH]}
    for action in sorted(with_lines, key=lambda action: action.id):
        with transaction.atomic():
            end_lines(action)
    over = CurationBlock.objects.filter(action__state__in=ENDED)
    CurationBlock.objects.filter(id__in=list(over.order_by().values_list("id", flat=True)[:BATCH])).delete()


# --- Requests ---------------------------------------------------------------------------------------------------------


def _not_answered() -> QuerySet[IdempotentRequest]:
    """But those that have left something: it bears their id, by which an equal request finds it for a day."""
    old = IdempotentRequest.objects.filter(status=None, lease_until__lt=database_now() - LEFT_AFTER)
    left = tuple(rows.filter(id=OuterRef("id")) for rows in (Job.objects, CurationAction.objects, ClonedVoice.objects))
    return old.filter(*(~Exists(rows) for rows in left)).order_by("created_at")


def _forget_not_answered() -> None:
    """Its next equal request would have carried it out anew; nobody sends it any more."""
    old = list(_not_answered().values_list("id", flat=True)[:BATCH])
    _not_answered().filter(id__in=old).order_by().delete()


EVERY_ROUND = (
    Check(
        name="complete renderings",
        says="All their sentences are in, but nobody was told.",
        find=_complete,
        repair=_hand_on_complete,
    ),
    Check(
        name="stranded renderings",
        says="They wait for sentences that nobody will speak.",
        find=_stranded,
        repair=_fail_stranded,
    ),
    Check(
        name="sentences of a version that is gone",
        says="No worker speaks this version of the model any more.",
        find=_of_gone_versions,
        repair=_fail_gone_versions,
    ),
    Check(
        name="jobs left open",
        says="Their rendering has ended, and they have not.",
        find=_left_open,
        repair=_end_left_open,
    ),
    Check(
        name="forsaken renderings",
        says="They are open, and no job waits for them.",
        find=_forsaken,
        repair=_cancel_forsaken,
    ),
    Check(
        name="lists not loaded",
        says="The process that took them in died before all lines were stored.",
        find=unloaded,
        repair=fail_unloaded,
    ),
    Check(
        name="voices not stored",
        says="The process that took the upload in died before it was stored.",
        find=unstored,
        repair=give_up_unstored,
    ),
)
EVERY_MINUTE = (
    Check(
        name="ended jobs without an event",
        says="Their callback was not told of their end.",
        find=_not_told,
        repair=_tell,
    ),
    Check(
        name="unneeded sentences",
        says="They are queued, and no open rendering needs them.",
        find=_unneeded,
        repair=_cancel_unneeded,
    ),
    Check(
        name="lines of ended actions",
        says="Their action has ended, and they have not.",
        find=_lines_of_ended,
        repair=_end_lines_of_ended,
    ),
    Check(
        name="idempotent requests without an answer",
        says="Their process died, and nobody sent them again.",
        find=_not_answered,
        repair=_forget_not_answered,
    ),
)
