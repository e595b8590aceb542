"""Specs and sentences as rows keep them: what a tenant's own key seals has its words sealed in the row, too.

Beside the sealed whole stands the same without words, so that what needs none goes on as with any other row.
"""

from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

import orjson

from synth import codec
from synth.models import ClonedVoice
from synth.sealing.format import NotOpened
from synth.sealing.texts import open_text, seal_text
from synth.service.sealing import key_for, refusal
from synth.stored import spec_columns
from synth.types import Manner, Segment, Spec
from tenants.encryption import is_own
from tenants.types import TenantRef

Said = TypeVar("Said", Spec, Segment)
SEALED = "sealed"


def to_row(tenant: TenantRef, said: Spec | Segment, *, key: str) -> dict[str, Any]:
    """For a column of the row with this rendition or segment key."""
    key_id = said.manner.encryption_key_id or ""
    plain: dict[str, Any] = codec.to_json(said)
    if not is_own(key_id):
        return plain
    whole = orjson.dumps(plain).decode()
    sealed = seal_text(whole, key_for(tenant, key_id), tenant=tenant.id, name=key)
    wordless: dict[str, Any] = codec.to_json(replace(said, manner=_wordless(said.manner), text=""))
    return {**wordless, SEALED: sealed}


def from_row(tenant: TenantRef, kind: type[Said], data: Any, *, key: str) -> Said:
    """What `to_row` was given. Raises as `sealing.key_for` does, and EncryptionKeyRefused for what was altered."""
    sealed = data.get(SEALED)
    if sealed is None:
        return codec.from_json(kind, data)
    key_id = data["manner"]["encryption_key_id"]
    try:
        whole = open_text(sealed, key_for(tenant, key_id), tenant=tenant.id, name=key)
    except NotOpened:
        raise refusal(key_id) from None
    return codec.from_json(kind, orjson.loads(whole))


def entry_columns(tenant: TenantRef, spec: Spec, *, key: str) -> dict[str, Any]:
    """`stored.spec_columns`, without words where the tenant's own key seals them."""
    columns = spec_columns(spec)
    if not is_own(spec.manner.encryption_key_id or ""):
        return columns
    return {**columns, "text": "", "spec": {**to_row(tenant, spec, key=key), "characters": len(spec.text)}}


def text_column(segment: Segment) -> str:
    """What the entry of a sentence keeps of it."""
    return "" if is_own(segment.manner.encryption_key_id or "") else segment.text


def transcript_column(tenant: TenantRef, voice_id: UUID, transcript: str, *, key_id: str) -> str:
    """What a voice keeps of what is said in its reference."""
    if not transcript or not is_own(key_id):
        return transcript
    return seal_text(transcript, key_for(tenant, key_id), tenant=tenant.id, name=_voice(voice_id))


def transcript_of(row: ClonedVoice) -> str:
    """What `transcript_column` was given. Raises as `from_row` does."""
    if not row.transcript or not is_own(row.sealed_by):
        return row.transcript
    tenant = TenantRef(row.tenant_id)
    try:
        return open_text(row.transcript, key_for(tenant, row.sealed_by), tenant=tenant.id, name=_voice(row.id))
    except NotOpened:
        raise refusal(row.sealed_by) from None


def _voice(voice_id: UUID) -> str:
    return f"voice/{voice_id.hex}"


def _wordless(manner: Manner) -> Manner:
    emotion = manner.emotion and replace(manner.emotion, text=None)
    return replace(manner, emotion=emotion, pronunciations=(), options=())
