"""Makes the audio behind a job or an entry anew, because storage has lost it."""

from typing import Any

from synth import wiring
from synth.errors import ServiceUnavailable
from synth.models import Entry, Rendering
from synth.service.endings import expire_entry
from synth.service.sealed_specs import from_row
from synth.service.speaking import deliver_job
from synth.service.submission import MadeMeanwhile, submit
from synth.service.waiting import wait_for
from synth.snapshot import load
from synth.spec import SpeechRequest
from synth.stored import of_entry
from synth.types import CacheMode, Spec, StoredAudio
from tenants.errors import NotFound
from tenants.ids import parse_id
from tenants.types import Caller, TenantRef


def remake(caller: Caller, speech_id: str) -> StoredAudio:
    """Make the audio behind a job or an entry anew, because storage has lost it.

    Raises NotFound when nothing says how, SpeechFailed, and ServiceUnavailable while it is not done.
    """
    rendering = rendering_of(caller.tenant, speech_id)
    if rendering is None:
        raise NotFound
    expire_entry(caller.tenant, Entry.Kind.RENDITION, rendering.key, digests=[rendering.digest])
    wiring.rendition_cache().forget(caller.tenant, rendering.key)
    stored = _made_again(caller, rendering)
    # A job stays with its own rendering, which from now on has this sound.
    Rendering.objects.filter(id=rendering.id).update(digest=stored.digest, size=stored.size, duration=stored.duration)
    return stored


def _made_again(caller: Caller, rendering: Rendering) -> StoredAudio:
    request = SpeechRequest(
        spec=from_row(caller.tenant, Spec, rendering.spec, key=rendering.key),
        category=rendering.category,
        cache=CacheMode.USE if rendering.stored else CacheMode.BYPASS,
    )
    snapshot = load(caller.tenant.id)
    card = snapshot.cards.get(request.spec.manner.engine) if snapshot else None
    if snapshot is None or card is None:
        raise NotFound
    kept = snapshot.retention_of(request.spec, request.category)
    try:
        # What was made once already is owed, however much waits.
        owed: dict[str, Any] = {"request_id": "", "retention": kept, "limited": False, "quotas": None}
        job = submit(caller, request, key=rendering.key, max_units=card.max_units, **owed)
    except MadeMeanwhile as made:
        return of_entry(made.entry)
    stored = deliver_job(wait_for(job, request.wait), request).stored
    if stored is None:
        raise ServiceUnavailable(code="being_made_again", retry_after=5)
    return stored


def rendering_of(tenant: TenantRef, speech_id: str) -> Rendering | None:
    """Of a job its own; of an entry the one that made it last."""
    rows = Rendering.objects.filter(tenant_id=tenant.id)
    job_id, entry_id = parse_id("job", speech_id), parse_id("ent", speech_id)
    if job_id is not None:
        return rows.filter(jobs__id=job_id).first()
    return rows.filter(entry_id=entry_id).order_by("-created_at").first() if entry_id else None
