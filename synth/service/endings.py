"""How work ends: every move of a synthesis, a rendering or a job to a later state, in one transaction each.

Locks are taken in one order, syntheses before renderings before jobs, so that two endings cannot block each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from synth.cache.misses import Standing, standing
from synth.models import Entry, Job, Rendering, RenderingPart, Synthesis
from synth.models.clock import database_now
from synth.models.prepared import Change, insert, prepared_rows, prepared_update
from synth.models.states import ENDED, OPEN, State
from synth.queue.claim import Claimed, fenced
from synth.service.catalogue import LONG_AGO
from synth.service.object_sweep import discard, kept_until
from synth.service.purging import holds_purged, next_number, purged_since
from synth.service.synthesis_quota import settle
from synth.service.webhooks.ended_jobs import jobs_to_tell, tell_of
from synth.service.work_keys import take_back
from synth.stored import STORED_FORMAT
from tenants.encryption import is_own
from tenants.types import TenantRef

RETRY_BACKOFF = (timedelta(seconds=1), timedelta(seconds=4))
ENTRY_FIELDS = (
    "engine", "model_version", "voice", "category", "text", "spec", "references", "sealed_by", "digest", "format",
    "media_type", "size", "duration", "sample_rate", "made_at", "provenance",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why work failed. `repeats`: it would fail again."""

    code: str
    detail: str = ""
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Published:
    """What became of a rendition. `entry` is None where it is not kept; `swapped`: another sound was there before.

    `purge_number` is the tenant's at that moment; `before` is the row that its own took the place of.
    """

    entry: Entry | None
    purge_number: int = 0
    swapped: bool = False
    before: Entry | None = None


@transaction.atomic
def sentence_spoken(claim: Synthesis, *, digest: str) -> bool:
    """Hand on the renderings that a sentence completes, while its bytes are on their way to storage.

    It is published by `synthesis_succeeded` alone. False when the claim was lost.
    """
    if not _note_digest(row_id=claim.id, attempt=claim.attempt, digest=digest):
        return False
    _fill_parts(synthesis_id=claim.id, digest=digest)
    _queue_complete(_lock_waiting_for(synthesis_id=claim.id))
    return True


@transaction.atomic
def synthesis_succeeded(
    claim: Synthesis, *, digest: str, duration: float, seconds: float, entry: Entry | None
) -> int | None:
    """Publish a sentence and hand on the renderings that it completes: how many. None when the claim was lost."""
    result = {"digest": digest, "duration": duration, "engine_seconds": seconds, "ended_at": database_now()}
    if not _end_synthesis(row_id=claim.id, attempt=claim.attempt, **result):
        return None
    if entry is not None:
        put_entry(entry)
    else:
        discard(TenantRef(claim.tenant_id), [(digest, STORED_FORMAT)])
    _fill_parts(synthesis_id=claim.id, digest=digest)
    handed_on = _queue_complete(_lock_waiting_for(synthesis_id=claim.id))
    settle(claim)  # last: others of the tenant wait for its row
    return handed_on


def hand_on(rendering_ids: Iterable[UUID]) -> int:
    """Queue those waiting renderings whose sentences are all in; how many. Called in a transaction."""
    waiting = Rendering.objects.select_for_update().filter(id__in=rendering_ids, state=State.WAITING)
    return _queue_complete(list(waiting.order_by("id").values_list("id", flat=True)))


def _queue_complete(locked: Iterable[UUID]) -> int:
    """Asked under the locks: of two sentences that come in at once, the later one sees that it is the last."""
    return sum(_queue_if_complete(rendering_id=rendering_id) for rendering_id in locked)


def give_back(claim: Claimed, failure: Failure) -> bool:
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
    told = jobs_to_tell(ended)
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
    take_back(ended)
    tell_of(told, State.FAILED, error_code=failure.code)
    _cancel_orphans(ended, now)
    return ended


@transaction.atomic
def rendering_failed(claim: Rendering, failure: Failure) -> list[UUID]:
    if not fenced(claim).exists():
        return []
    return fail_renderings([claim], failure, database_now())


@transaction.atomic
def rendering_succeeded(claim: Rendering, result: dict[str, object], entry: Entry | None) -> Published | None:
    """Publish a rendition and end the jobs that wait for it. None when the claim was lost.

    One that holds sentences which were purged meanwhile is for its jobs alone: it must not bring them back.
    """
    tenant = TenantRef(claim.tenant_id)
    number, purged = purged_since(tenant, claim.created_at) if entry else (0, False)
    kept = None if entry is None or (purged and holds_purged(tenant, claim)) else entry
    now = database_now()
    new_id = kept.id if kept else None
    if not _end_rendering(row_id=claim.id, attempt=claim.attempt, ended_at=now, entry_id=new_id, **result):
        return None
    if kept is None:
        discard(tenant, [(str(result["digest"]), str(result["format"]))])
        published = Published(None)
    else:
        kept.made_at = now
        published = Published(*put_entry(kept, purge_number=number))
        if published.entry and published.entry.id != new_id:
            replaced = standing_of(published.before, claim.created_at)
            Rendering.objects.filter(id=claim.id).update(entry_id=published.entry.id, replaced=replaced)
    if is_own(claim.spec["manner"].get("encryption_key_id") or ""):
        take_back([claim.id])
    told = jobs_to_tell([claim.id])
    _end_jobs(rendering_id=claim.id, ended_at=now)
    tell_of(told, State.SUCCEEDED)
    return published


def put_entry(entry: Entry, *, purge_number: int = 0) -> tuple[Entry, int, bool, Entry | None]:
    """Write the catalogue row of a key, over the one that is there: its id stays, so that links to it go on working.

    Returns it with the tenant's purge number, whether it took the place of another sound, and the row that was there
    before. Another sound counts as purged, so that Redis cannot keep it.
    """
    try:
        with transaction.atomic():
            insert(entry)
    except IntegrityError:
        return _overwrite(entry, purge_number)
    return entry, purge_number, False, None


def _overwrite(entry: Entry, purge_number: int) -> tuple[Entry, int, bool, Entry]:
    tenant = TenantRef(entry.tenant_id)
    same_key = Entry.with_purged.filter(tenant_id=entry.tenant_id, kind=entry.kind, key=entry.key)
    before = same_key.get()
    changes = {name: getattr(entry, name) for name in ENTRY_FIELDS}
    swapped = before.digest != entry.digest and before.purged_at is None
    changes |= _previous(before) if swapped else {}
    if swapped and entry.kind == Entry.Kind.RENDITION:
        purge_number = changes["purge_number"] = next_number(tenant)
    same_key.update(**changes, purged_at=None)
    if swapped:
        discard(tenant, [(before.digest, before.format)])
    return same_key.get(), purge_number, swapped, before


def _previous(before: Entry) -> dict[str, Any]:
    """What the row keeps of the sound that it named before: to be heard beside the new one as long as it is there."""
    return {
        "previous_digest": before.digest,
        "previous_duration": before.duration,
        "previous_made_at": before.made_at,
        "previous_until": kept_until(),
    }


def standing_of(entry: Entry | None, at: datetime) -> Standing:
    """How the row of a key stood at that time, as far as it tells now."""
    if entry is None:
        return Standing.ABSENT
    return standing(at, created=entry.created_at, purged=entry.purged_at, lost=entry.made_at == LONG_AGO)


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
        tell_of([job], State.CANCELED)
        cancel_forsaken([rendering.id], now)
    job.refresh_from_db()
    return job


def cancel_forsaken(rendering_ids: Iterable[UUID], now: datetime) -> None:
    """Cancel those of these renderings that no open job waits for. Called in a transaction."""
    locked = Rendering.objects.select_for_update().filter(id__in=list(rendering_ids), state__in=OPEN)
    ids = list(locked.order_by("id").values_list("id", flat=True))
    # Asked under the locks: whoever joins takes them, too.
    attached = Job.objects.filter(rendering_id__in=ids, state__in=OPEN).values_list("rendering_id", flat=True)
    forsaken = sorted(set(ids) - set(attached))
    Rendering.objects.filter(id__in=forsaken).update(state=State.CANCELED, ended_at=now, lease_until=None)
    take_back(forsaken)
    _cancel_orphans(forsaken, now)


def _cancel_orphans(rendering_ids: Sequence[UUID], now: datetime) -> None:
    """Cancel queued sentences of ended renderings that no open rendering needs.

    One that runs already is let finish: its sound is paid for, and will be asked for again.
    """
    if rendering_ids:
        of_these = RenderingPart.objects.filter(rendering_id__in=rendering_ids).values("synthesis_id")
        cancel_unneeded(Q(id__in=of_these), now)


def cancel_unneeded(chosen: Q, now: datetime) -> int:
    """Cancel those of the queued sentences that no open rendering needs; how many. Called in a transaction.

    Locked rows are being joined, claimed or finished by others, and are left to them.
    """
    needed = RenderingPart.objects.filter(synthesis=OuterRef("id"), rendering__state__in=OPEN)
    orphans = (
        Synthesis.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(chosen)
        .filter(~Exists(needed), state=State.QUEUED)
    )
    ids = [row.id for row in orphans]
    # Asked again under the lock: someone may have joined after the first question began, and let go of the lock.
    unneeded = Synthesis.objects.filter(~Exists(needed), id__in=ids, state=State.QUEUED)
    return unneeded.update(state=State.CANCELED, ended_at=now)


# --- The queries of what succeeds -----------------------------------------------------------------------------------


@prepared_update
def _end_synthesis(
    *, row_id: Any, attempt: Any, ended_at: Any, digest: Any, duration: Any, engine_seconds: Any
) -> Change:
    changes = {"ended_at": ended_at, "digest": digest, "duration": duration, "engine_seconds": engine_seconds}
    mine = Synthesis.objects.filter(id=row_id, attempt=attempt, state=State.RUNNING)
    return mine, {"state": State.SUCCEEDED, "lease_until": None, **changes}


@prepared_update
def _note_digest(row_id: Any, attempt: Any, digest: Any) -> Change:
    return Synthesis.objects.filter(id=row_id, attempt=attempt, state=State.RUNNING), {"digest": digest}


@prepared_update
def _fill_parts(synthesis_id: Any, digest: Any) -> Change:
    return RenderingPart.objects.filter(synthesis_id=synthesis_id), {"digest": digest}


@prepared_rows
def _lock_waiting_for(synthesis_id: Any) -> QuerySet[Rendering, UUID]:
    with_it = RenderingPart.objects.filter(synthesis_id=synthesis_id).values("rendering_id")
    waiting = Rendering.objects.select_for_update().filter(id__in=with_it, state=State.WAITING)
    return waiting.order_by("id").values_list("id", flat=True)


@prepared_update
def _queue_if_complete(rendering_id: Any) -> Change:
    lacking = RenderingPart.objects.filter(rendering_id=rendering_id, digest="")
    return Rendering.objects.filter(~Exists(lacking), id=rendering_id), {"state": State.QUEUED}


@prepared_update
def _end_rendering(
    *,
    row_id: Any,
    attempt: Any,
    ended_at: Any,
    entry_id: Any,
    digest: Any,
    format: Any,  # noqa: A002
    media_type: Any,
    size: Any,
    duration: Any,
    sample_rate: Any,
) -> Change:
    sound = {"digest": digest, "format": format, "media_type": media_type, "size": size}
    length = {"duration": duration, "sample_rate": sample_rate}
    end = {"state": State.SUCCEEDED, "ended_at": ended_at, "lease_until": None, "error_code": "", "entry_id": entry_id}
    return Rendering.objects.filter(id=row_id, attempt=attempt, state=State.RUNNING), {**sound, **length, **end}


@prepared_update
def _end_jobs(rendering_id: Any, ended_at: Any) -> Change:
    open_jobs = Job.objects.filter(rendering_id=rendering_id, state__in=OPEN)
    return open_jobs, {"state": State.SUCCEEDED, "ended_at": ended_at}
