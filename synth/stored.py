"""Finished audio: rows of it as the value that doors and cache share, and its name in storage."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from synth import codec
from synth.audio.formats import get_format
from synth.conf import conf
from synth.keys import object_name, references_of, scoped
from synth.models import Entry, Job, Rendering
from synth.models.clock import database_now
from synth.types import Manner, Spec, StoredAudio
from tenants.ids import public_id
from tenants.types import TenantRef

# In which sentences are kept: lossless.
STORED_FORMAT = "flac"
# The folder of a tenant's own voices.
VOICES = "voices"
VOICE_TYPE = "audio/flac"


def of_entry(entry: Entry) -> StoredAudio:
    return StoredAudio(
        id=public_id("ent", entry.id),
        digest=entry.digest,
        format=entry.format,
        media_type=entry.media_type,
        size=entry.size,
        duration=entry.duration,
        sample_rate=entry.sample_rate,
        made=entry.made_at.timestamp(),
        sealed_by=entry.sealed_by,
    )


def of_job(job: Job) -> StoredAudio:
    """The sound that a succeeded job's rendering made. Its id is the job's: a bypassed one has no entry."""
    rendering = job.rendering
    assert rendering.ended_at is not None  # noqa: S101 - a succeeded rendering has ended
    return StoredAudio(
        id=job.public_id,
        digest=rendering.digest,
        format=rendering.format,
        media_type=rendering.media_type,
        size=rendering.size or 0,
        duration=rendering.duration or 0.0,
        sample_rate=rendering.sample_rate or 0,
        made=rendering.ended_at.timestamp(),
        sealed_by=rendering.spec["manner"].get("encryption_key_id") or "",
    )


def audio_members(stored: StoredAudio) -> dict[str, Any]:
    """What answers and events say of it. Duration is seconds, size bytes, sample rate Hz.

    Of a sealed sound nothing tells the digest: that would show who else has the same.
    """
    return {
        "format": stored.format,
        "media_type": stored.media_type,
        "sample_rate": stored.sample_rate,
        "duration": round(stored.duration, 3),
        "size": stored.size,
        "sha256": None if stored.sealed_by else stored.digest,
    }


def audio_is_kept(
    job: Job, *, now: datetime | None = None, is_named: Callable[[Rendering], bool] | None = None
) -> bool:
    """Whether storage still has the audio of a succeeded job: for its time, and as long as an entry names it.

    `now` and `is_named` are for callers that have asked the database for many at once.
    """
    rendering = job.rendering
    if not rendering.digest:  # erased, as its voice was deleted
        return False
    now = now or database_now()
    kept_until = (rendering.ended_at or now) + timedelta(seconds=max(conf().job_audio_ttl, conf().url_ttl))
    return kept_until > now or (is_named or _is_named)(rendering)


def _is_named(rendering: Rendering) -> bool:
    return Entry.objects.filter(tenant_id=rendering.tenant_id, digest=rendering.digest).exists()


def audio_object(tenant: TenantRef, digest: str, format_name: str) -> str:
    """The object's name. Raises LookupError for a format that is not installed."""
    return object_name(tenant, digest, get_format(format_name).extension)


def voice_object(tenant: TenantRef, voice_id: UUID, digest: str) -> str:
    """The decoded sound of a tenant's own voice, apart from all speech: each voice has a copy of its own."""
    return scoped(tenant, VOICES, voice_id.hex, f"{digest}.{STORED_FORMAT}")


def upload_object(tenant: TenantRef, voice_id: UUID) -> str:
    """The file that a voice was uploaded as."""
    return scoped(tenant, VOICES, voice_id.hex, "upload")


def references_column(manner: Manner) -> str:
    """What an entry keeps of `references_of`."""
    return " ".join(references_of(manner))


def spec_columns(spec: Spec) -> dict[str, Any]:
    """What the entry of a rendition keeps of its spec: the text once."""
    return {
        "text": spec.text,
        "spec": codec.to_json(replace(spec, text="")),
        "references": references_column(spec.manner),
        "sealed_by": spec.manner.encryption_key_id or "",
    }


def characters_of(entry: Entry) -> int:
    """Of the text of a rendition, which is not in its row where the tenant's own key seals it."""
    return int((entry.spec or {}).get("characters", len(entry.text)))


def spec_of(entry: Entry) -> Spec:
    """The spec that `spec_columns` took apart."""
    return replace(codec.from_json(Spec, entry.spec), text=entry.text)
