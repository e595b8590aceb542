"""Jobs whose sound is stored before they begin: those of hits that a callback is told of, and of items of batches."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from synth.cache.misses import likeness
from synth.models import Entry, Job, Rendering
from synth.models.clock import database_now
from synth.models.prepared import insert
from synth.models.states import Priority, State
from synth.service.missing import NO_MISS
from synth.service.sealed_specs import to_row
from synth.service.submission import create_job
from synth.service.webhooks.callbacks import Callback
from synth.service.webhooks.ended_jobs import tell_of
from synth.spec import SpeechRequest
from tenants.ids import new_id
from tenants.types import Caller, TenantRef

SOUND = ("digest", "format", "media_type", "size", "duration", "sample_rate")


def note_made(
    caller: Caller,
    request: SpeechRequest,
    entry: Entry,
    *,
    request_id: str,
    job_id: UUID | None = None,
    priority: int = Priority.INTERACTIVE,
    callback: Callback | None = None,
) -> Job:
    """A job that ends as it begins. Its usage is the caller's to write."""
    now = database_now()
    with transaction.atomic():
        rendering = _rendering_of(request, entry) or _rendering_without_sentences(request, entry, now=now)
        job = create_job(
            caller,
            request,
            rendering,
            job_id=job_id or new_id(),
            priority=priority,
            callback=callback,
            request_id=request_id,
            accounted=True,
            miss_reason=NO_MISS,
            state=State.SUCCEEDED,
            ended_at=now,
        )
        tell_of([job], State.SUCCEEDED)
    return job


def _rendering_of(request: SpeechRequest, entry: Entry) -> Rendering | None:
    """The one that made the entry: it knows its sentences. Its likeness is what an index finds it by."""
    alike = Rendering.objects.filter(tenant_id=entry.tenant_id, likeness=likeness(request.spec))
    made = alike.filter(key=entry.key, state=State.SUCCEEDED)
    return made.filter(digest=entry.digest, entry_id=entry.id).order_by("-created_at").first()


def _rendering_without_sentences(request: SpeechRequest, entry: Entry, *, now: datetime) -> Rendering:
    rendering = Rendering(
        tenant_id=entry.tenant_id,
        key=entry.key,
        flight=entry.key,
        spec=to_row(TenantRef(entry.tenant_id), request.spec, key=entry.key),
        category=entry.category,
        state=State.SUCCEEDED,
        ended_at=now,
        entry_id=entry.id,
        likeness=likeness(request.spec),
        **{name: getattr(entry, name) for name in SOUND},
    )
    insert(rendering)
    return rendering
