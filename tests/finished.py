"""Speech that is done, made without workers: the rows, the object and the cache as they leave them."""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from synth import wiring
from synth.audio.formats import get_format
from synth.keys import object_name, rendition_key
from synth.models import Entry, Job, Rendering
from synth.models.states import State
from synth.service.submission import submit
from synth.snapshot import load
from synth.spec import SpeechRequest, read_request
from synth.stored import spec_columns
from tenants.ids import public_id
from tests.world import Member


@dataclass(frozen=True)
class Finished:
    """A job that succeeded, its entry, and the bytes in storage."""

    job: Job
    entry: Entry
    data: bytes

    @property
    def digest(self) -> str:
        return self.entry.digest

    @property
    def entry_id(self) -> str:
        return public_id("ent", self.entry.id)


def queue(member: Member, body: dict[str, Any]) -> Job:
    """What a request leaves behind that no worker has touched yet."""
    return _submit(member, _request(member, body))


def finish(member: Member, body: dict[str, Any]) -> Finished:
    """The bytes are no audio, but differ with tenant and request."""
    request = _request(member, body)
    job = _submit(member, request)
    key, output = rendition_key(request.spec), request.spec.output
    data = f"{member.tenant.name} {key} ".encode() * 50
    digest = hashlib.sha256(data).hexdigest()
    chosen = get_format(output.format)
    sound = {
        "digest": digest,
        "format": output.format,
        "media_type": chosen.media_type_for(output.sample_rate),
        "size": len(data),
        "duration": 1.25,
        "sample_rate": output.sample_rate,
    }
    wiring.object_store().put(object_name(member.ref, digest, chosen.extension), data, str(sound["media_type"]))
    entry = Entry.objects.create(
        tenant=member.tenant,
        kind=Entry.Kind.RENDITION,
        key=key,
        engine=request.spec.manner.engine,
        model_version=request.spec.manner.model_version,
        voice=request.spec.manner.voice,
        category=request.category,
        made_at=timezone.now(),
        **spec_columns(request.spec),
        **sound,
    )
    ended = {"state": State.SUCCEEDED, "ended_at": timezone.now()}
    Rendering.objects.filter(id=job.rendering_id).update(**ended, **sound, entry_id=entry.id)
    Job.objects.filter(id=job.id).update(**ended)
    return Finished(Job.objects.select_related("rendering").get(id=job.id), entry, data)


def _request(member: Member, body: dict[str, Any]) -> SpeechRequest:
    snapshot = load(member.tenant.id)
    assert snapshot is not None
    return read_request(body, snapshot, house=wiring.house())


def _submit(member: Member, request: SpeechRequest) -> Job:
    key = rendition_key(request.spec)
    return submit(member.caller, request, key=key, max_units=400, request_id="req_of_a_test")
