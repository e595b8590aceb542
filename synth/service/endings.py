"""How work ends: every move of a synthesis, a rendering or a job to a later state, in one transaction each.

Locks are taken in one order, syntheses before renderings before jobs, so that two endings cannot block each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q

from synth.models import Entry, Job, Rendering, RenderingPart, Synthesis
from synth.models.clock import database_now
from synth.models.states import ENDED, OPEN, State
from synth.queue.claim import fenced
from tenants.types import TenantRef

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
RETRY_BACKOFF = (timedelta(seconds=1), timedelta(seconds=4))
ENTRY_FIELDS = (
    "engine", "model_version", "voice", "category", "text", "digest", "format", "media_type", "size", "duration",
    "sample_rate", "made_at", "provenance",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why work failed. `repeats`: it would fail again."""

    code: str
    detail: str = ""
    repeats: bool = False


@transaction.atomic
def synthesis_succeeded(claim: Synthesis, *, digest: str, duration: float, seconds: float, entry: Entry | None) -> bool:
    """Publish a sentence and hand on the renderings that it completes. False when the claim was lost."""
    now = database_now()
    done = fenced(claim).update(
        state=State.SUCCEEDED,
        ended_at=now,
        digest=digest,
        duration=duration,
        engine_seconds=seconds,
        lease_until=None,
    )
    if not done:
        return False
    if entry is not None:
        put_entry(entry)
    RenderingPart.objects.filter(synthesis=claim).update(digest=digest)
    hand_on(Rendering.objects.filter(parts__synthesis=claim).values_list("id", flat=True))
    return True


def hand_on(rendering_ids: Iterable[UUID]) -> int:
    """Queue those waiting renderings whose sentences are all in; how many. Called in a transaction."""
    waiting = Rendering.objects.select_for_update().filter(id__in=rendering_ids, state=State.WAITING)
    locked = [row.id for row in waiting.order_by("id").only("id")]
    # Asked under the locks: of two sentences that come in at once, the later one sees that it is the last.
    lacking = RenderingPart.objects.filter(rendering=OuterRef("id"), digest="")
    return Rendering.objects.filter(~Exists(lacking), id__in=locked).update(state=State.QUEUED)


def give_back(claim: Synthesis | Rendering, failure: Failure) -> bool:
    """Let the work be claimed again, after a pause that grows with each attempt. False when the claim was lost."""
    pause = RETRY_BACKOFF[min(claim.attempt, len(RETRY_BACKOFF)) - 1]
    return bool(
        fenced(claim).update(
            state=State.QUEUED,
            not_before=database_now() + pause,
            lease_until=None,
            error_code=failure.code,
            error_detail=failure.detail,
        )
    )


@transaction.atomic
def synthesis_failed(claim: Synthesis, failure: Failure) -> list[UUID]:
    """End the sentence, and with it every rendering and job that waits for it. Returns the renderings that ended."""
    now = database_now()
    if not fenced(claim).update(
        state=State.FAILED, ended_at=now, lease_until=None, error_code=failure.code, error_detail=failure.detail
    ):
        return []
    return fail_renderings(Rendering.objects.filter(parts__synthesis=claim, state__in=OPEN), failure, now)


def fail_renderings(renderings: Iterable[Rendering], failure: Failure, now: datetime) -> list[UUID]:
    """Called in a transaction. Sentences that nobody else waits for are cancelled."""
    ids = sorted({row.id for row in renderings})
    locked = list(Rendering.objects.select_for_update().filter(id__in=ids, state__in=OPEN).order_by("id"))
    ended = [row.id for row in locked]
    Rendering.objects.filter(id__in=ended).update(
        state=State.FAILED,
        ended_at=now,
        lease_until=None,
        error_code=failure.code,
        error_detail=failure.detail,
        error_repeats=failure.repeats,
    )
    Job.objects.filter(rendering_id__in=ended, state__in=OPEN).update(
        state=State.FAILED, ended_at=now, error_code=failure.code, error_detail=failure.detail
    )
    _cancel_orphans(ended, now)
    return ended


@transaction.atomic
def rendering_failed(claim: Rendering, failure: Failure) -> list[UUID]:
    if not fenced(claim).exists():
        return []
    return fail_renderings([claim], failure, database_now())


@transaction.atomic
def rendering_succeeded(claim: Rendering, result: dict[str, object], entry: Entry | None) -> Entry | bool | None:
    """Publish a rendition and end the jobs that wait for it. False when the claim was lost, else the entry."""
    now = database_now()
    new_id = entry.id if entry else None
    done = fenced(claim).update(
        state=State.SUCCEEDED, ended_at=now, lease_until=None, error_code="", entry_id=new_id, **result
    )
    if not done:
        return False
    if entry is not None:
        entry.made_at = now
        entry = put_entry(entry)
        if entry.id != new_id:
            Rendering.objects.filter(id=claim.id).update(entry_id=entry.id)
    Job.objects.filter(rendering=claim, state__in=OPEN).update(state=State.SUCCEEDED, ended_at=now)
    return entry


def put_entry(entry: Entry) -> Entry:
    """Write the catalogue row of a key, over the one that is there: its id stays, so that links to it go on working."""
    same_key = Entry.objects.filter(tenant_id=entry.tenant_id, kind=entry.kind, key=entry.key)
    try:
        with transaction.atomic():
            entry.save(force_insert=True)
    except IntegrityError:
        same_key.update(**{name: getattr(entry, name) for name in ENTRY_FIELDS})
        return same_key.get()
    return entry


def expire_entry(tenant: TenantRef, kind: str, key: str, *, digests: Iterable[str]) -> None:
    """Let an entry whose audio is lost count no more. Its row stays, so that what is made anew has its id."""
    lost = Entry.objects.filter(tenant_id=tenant.id, kind=kind, key=key, digest__in=list(digests))
    lost.update(made_at=LONG_AGO)


@transaction.atomic
def cancel_job(tenant: TenantRef, job_id: UUID) -> Job | None:
    """Detach one job; its rendering and sentences stop only when nobody else waits for them."""
    job = Job.objects.select_related("rendering").filter(tenant_id=tenant.id, id=job_id).first()
    if job is None or job.state in ENDED:
        return job
    # The rendering first, as everywhere: a job must not be cancelled while its rendering is ending it.
    rendering = Rendering.objects.select_for_update().get(id=job.rendering_id)
    now = database_now()
    if Job.objects.filter(id=job.id, state__in=OPEN).update(state=State.CANCELED, ended_at=now):
        attached = Job.objects.filter(rendering=rendering, state__in=OPEN).exists()
        if not attached and rendering.state in OPEN:
            Rendering.objects.filter(id=rendering.id).update(state=State.CANCELED, ended_at=now, lease_until=None)
            _cancel_orphans([rendering.id], now)
    job.refresh_from_db()
    return job


def _cancel_orphans(rendering_ids: Iterable[UUID], now: datetime) -> None:
    """Cancel queued sentences of ended renderings that no open rendering needs.

    One that runs already is let finish: its sound is paid for, and will be asked for again. Locked rows are being
    joined, claimed or finished by others, and are left to them.
    """
    needed = RenderingPart.objects.filter(synthesis=OuterRef("id"), rendering__state__in=OPEN)
    orphans = (
        Synthesis.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(Q(id__in=RenderingPart.objects.filter(rendering_id__in=list(rendering_ids)).values("synthesis_id")))
        .filter(~Exists(needed), state=State.QUEUED)
    )
    ids = [row.id for row in orphans]
    # Asked again under the lock: someone may have joined after the first question began, and let go of the lock.
    Synthesis.objects.filter(~Exists(needed), id__in=ids, state=State.QUEUED).update(state=State.CANCELED, ended_at=now)
