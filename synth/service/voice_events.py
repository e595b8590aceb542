"""Writes down what happened to tenants' own voices, and tells their tenants. Those who change one call it."""

from typing import Any

from synth.models import ClonedVoice, EventType, VoiceEvent
from synth.service.curation import Actor
from synth.service.webhooks.events import note_event
from tenants.types import TenantRef


def note(row: ClonedVoice, kind: str, *, actor: Actor | None = None, **details: Any) -> None:
    """To be called in the transaction of the change."""
    actor = actor or Actor()
    VoiceEvent.objects.create(
        tenant_id=row.tenant_id,
        voice_id=row.id,
        kind=kind,
        name=row.name,
        engine=row.engine,
        fingerprint=row.fingerprint,
        details=details,
        api_key_id=actor.api_key_id,
        user_name=actor.user_name,
        request_id=actor.request_id,
    )


def tell_ready(row: ClonedVoice, *, name: str) -> None:
    """In the transaction of the change. `name` is another one where this sound was a voice before."""
    _tell(row, EventType.VOICE_READY, name=name)


def tell_refused(row: ClonedVoice, *, code: str, message: str) -> None:
    """In the transaction of the change."""
    _tell(row, EventType.VOICE_FAILED, name=row.name, error={"code": code, "message": message})


def _tell(row: ClonedVoice, kind: str, **told: Any) -> None:
    data = {"id": row.public_id, "href": f"/v1/voices/{row.public_id}", "engine": row.engine, **told}
    note_event(TenantRef(row.tenant_id), kind, row.public_id, data)
