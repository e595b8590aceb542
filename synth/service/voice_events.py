"""Writes down what happened to tenants' own voices. Those who change one call it."""

from typing import Any

from synth.models import ClonedVoice, VoiceEvent
from synth.service.curation import Actor


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
