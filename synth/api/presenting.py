"""Speech as JSON, headers and bytes: the one shape that every API door answers with."""

from base64 import b64encode
from typing import Any

from synth.codec import utc
from synth.models import Entry, Job
from synth.models.states import State
from synth.service import Speech, url_members
from synth.stored import audio_is_kept, audio_members, characters_of, of_entry, of_job
from synth.types import Delivery, Spec, StoredAudio
from tenants.ids import public_id
from tenants.types import TenantRef

RETRY_AFTER = 2


def speech_body(
    speech: Speech, tenant: TenantRef, *, spec: Spec, delivery: Delivery, request_id: str
) -> dict[str, Any]:
    """A finished speech. Inline audio is base64; everything else gets a temporary URL."""
    stored = speech.stored
    assert stored is not None  # noqa: S101 - only finished speech is presented
    inline = speech.audio if delivery is Delivery.INLINE else None
    return speech_members(speech, stored, spec=spec, request_id=request_id) | sound_members(tenant, stored, inline)


def speech_members(speech: Speech, stored: StoredAudio, *, spec: Spec, request_id: str) -> dict[str, Any]:
    """All but where the sound is."""
    return {
        "id": speech.id,
        "object": "speech",
        "status": "succeeded",
        "from_cache": speech.from_cache,
        "cache": speech.cache_status,
        "age": round(speech.age, 3),
        **audio_members(stored),
        "time_stretched": spec.output.duration is not None,
        "bitrate": spec.output.bitrate,
        "characters": len(spec.text),
        "engine": spec.manner.engine,
        "voice": spec.manner.voice,
        "language": spec.manner.language,
        "request_id": request_id,
    }


def sound_members(tenant: TenantRef, stored: StoredAudio, inline: bytes | None) -> dict[str, Any]:
    return url_members(tenant, stored) if inline is None else {"audio": b64encode(inline).decode()}


def pending_body(job: Job, request_id: str) -> dict[str, Any]:
    return {
        "id": job.public_id,
        "object": "speech",
        "status": job.state,
        "href": job_path(job),
        "retry_after": RETRY_AFTER,
        "characters": job.characters,
        "engine": job.engine,
        "voice": job.voice,
        "language": job.language,
        "request_id": request_id,
    }


def job_body(job: Job, *, with_url: bool = False) -> dict[str, Any]:
    """A job; a finished one with its audio, and with a URL of it when that is asked for."""
    return {
        "id": job.public_id,
        "object": "speech",
        "status": job.state,
        "href": job_path(job),
        "engine": job.engine,
        "voice": job.voice,
        "language": job.language,
        "category": job.category,
        "characters": job.characters,
        "metadata": job.metadata,
        "callback": _callback(job),
        "created_at": utc(job.created_at),
        "ended_at": utc(job.ended_at) if job.ended_at else None,
        "error": {"code": job.error_code} if job.error_code else None,
        "audio": _job_audio(job, with_url=with_url) if job.state == State.SUCCEEDED else None,
    }


def _callback(job: Job) -> str | None:
    """As the request said it."""
    return job.callback_url or (public_id("whk", job.callback_id) if job.callback_id else None)


def entry_body(entry: Entry) -> dict[str, Any]:
    """An entry of the cache, in the shape of the job that made it."""
    stored = of_entry(entry)
    return {
        "id": stored.id,
        "object": "speech",
        "status": "succeeded",
        "href": f"/v1/speech/{stored.id}",
        "engine": entry.engine,
        "voice": entry.voice,
        "category": entry.category,
        "characters": characters_of(entry),
        "created_at": utc(entry.made_at),
        "audio": audio_members(stored) | url_members(TenantRef(entry.tenant_id), stored),
    }


def _job_audio(job: Job, *, with_url: bool) -> dict[str, Any] | None:
    if not job.rendering.digest or (with_url and not audio_is_kept(job)):
        return None
    stored = of_job(job)
    stretched = job.rendering.spec["output"].get("duration") is not None
    members = audio_members(stored) | {"time_stretched": stretched}
    return members | url_members(TenantRef(job.tenant_id), stored) if with_url else members


def job_path(job: Job) -> str:
    return f"/v1/speech/{job.public_id}"
