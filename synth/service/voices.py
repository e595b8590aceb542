"""A tenant's own voices: taken in, and deleted. The doors call these; `voice_work.py` decodes what was taken in.

An upload is stored, never read here: that is for an io worker, in a process of its own.
"""

import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Protocol
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from synth import wiring
from synth.errors import ServiceUnavailable, StorageUnavailable, TooManyVoices
from synth.models import ClonedVoice, VoiceEvent
from synth.models.clock import database_now
from synth.models.locks import one_at_a_time
from synth.models.states import State
from synth.service.curation import Actor
from synth.service.erasing import erase
from synth.service.links import sealed_url
from synth.service.sealed_specs import transcript_column
from synth.service.sealing import key_id_now, sealed
from synth.service.storage_use import quotas_now, reserve, voices_of
from synth.service.voice_events import note
from synth.service.work_keys import lend
from synth.stored import VOICE_TYPE, upload_object, voice_object
from tenants.errors import NotFound
from tenants.ids import new_id
from tenants.models.usage_day import NO_KEY
from tenants.quotas import KEY, TENANT, QuotaExceeded, QuotaState
from tenants.types import TenantRef
from tenants.versions import raise_versions

MOST_VOICES = 1_000
# Uploads that a process holds in its memory at a time, each up to REFRAIN_VOICE_UPLOAD_LIMIT.
_in_memory = threading.BoundedSemaphore(2)
STORED_WITHIN = timedelta(minutes=15)
URL_SECONDS = 300
Kind = VoiceEvent.Kind


class Upload(Protocol):
    """An uploaded file, on disk where it is large."""

    def chunks(self) -> Iterator[bytes]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """That the person whose voice it is lets it be used: who, when (ISO 8601), and in which words."""

    who: str
    when: str
    wording: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceOrder:
    name: str
    engine: str
    language: str
    transcript: str
    consent: Consent


def create_voice(
    tenant: TenantRef, order: VoiceOrder, upload: Upload, *, actor: Actor, voice_id: UUID | None = None
) -> tuple[ClonedVoice, bool]:
    """Take in an upload, and have it made a voice; False beside a voice that was made of this very file before.

    An upload with this id that is there already is the one, and is stored again if its process died before it was.
    Raises TooManyVoices, QuotaExceeded, and ServiceUnavailable while the file cannot be stored.
    """
    left = ClonedVoice.objects.filter(tenant_id=tenant.id, id=voice_id).first() if voice_id else None
    if left is not None and left.state != State.CANCELED:
        return (_stored(left, upload) if left.state == State.WAITING else left), True
    digest, size = _measure(upload)
    known = _known(tenant, order, digest)
    if known is not None:
        note(known, Kind.REPEATED, actor=actor, consent=asdict(order.consent), upload=digest)
        return known, False
    row_id = voice_id if voice_id and left is None else new_id()  # one that was deleted since has had this id
    return _stored(_open(tenant, order, row_id=row_id, digest=digest, size=size, actor=actor), upload), True


def _stored(row: ClonedVoice, upload: Upload) -> ClonedVoice:
    """The row once its file is in the store, and a worker is rung for it."""
    try:
        with _in_memory:
            tenant, data = TenantRef(row.tenant_id), b"".join(upload.chunks())
            name = upload_object(tenant, row.id)
            kept = sealed(tenant, name, data, media_type="", key_id=row.sealed_by)
            wiring.object_store().put(name, kept, "application/octet-stream")
    except StorageUnavailable as error:
        ClonedVoice.objects.filter(id=row.id).update(state=State.CANCELED, ended_at=database_now())
        raise ServiceUnavailable(code=error.code, retry_after=5) from error
    ClonedVoice.objects.filter(id=row.id, state=State.WAITING).update(state=State.QUEUED)
    row.refresh_from_db()
    wiring.doorbell().ring_voices()
    return row


def delete_voice(tenant: TenantRef, text: str, *, actor: Actor) -> None:
    """Let a voice speak no more from the next request on, and erase it with all that was made of it.

    Raises NotFound. What of a large one is not erased when this returns, workers go on with.
    """
    with transaction.atomic():
        row = ClonedVoice.of(tenant.id, text)
        if row is None:
            raise NotFound
        there = ClonedVoice.objects.filter(id=row.id).exclude(state=State.CANCELED)
        if not there.update(state=State.CANCELED, ended_at=database_now(), lease_until=None):
            raise NotFound
        row.refresh_from_db()
        note(row, Kind.DELETED, actor=actor)
        raise_versions([tenant.id])
    if not erase(row):
        wiring.doorbell().ring_voices()


def voice_url(row: ClonedVoice) -> str:
    """A temporary URL of the sound of a ready voice, for operators: no answer of the API holds one."""
    tenant = TenantRef(row.tenant_id)
    name = voice_object(tenant, row.id, row.digest)
    if row.sealed_by:
        return sealed_url(tenant, name, VOICE_TYPE, key_id=row.sealed_by, seconds=URL_SECONDS).url
    return wiring.object_store().url(name, expires_in=URL_SECONDS)


def unstored() -> QuerySet[ClonedVoice]:
    """Uploads whose process died before they were stored. They were never accepted."""
    return ClonedVoice.objects.filter(state=State.WAITING, created_at__lt=database_now() - STORED_WITHIN)


def give_up_unstored() -> None:
    """The sweeper's part."""
    unstored().update(state=State.CANCELED, ended_at=database_now())


def _measure(upload: Upload) -> tuple[str, int]:
    digest, size = sha256(), 0
    for chunk in upload.chunks():
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def _known(tenant: TenantRef, order: VoiceOrder, digest: str) -> ClonedVoice | None:
    return ClonedVoice.objects.filter(
        tenant_id=tenant.id,
        engine=order.engine,
        language=order.language,
        transcript=order.transcript,
        upload_digest=digest,
        state=State.SUCCEEDED,
    ).first()


def _require_room(tenant: TenantRef, key_id: UUID | None, size: int) -> None:
    """Raises QuotaExceeded."""
    quotas = of_tenant, of_key = quotas_now(tenant.id, key_id)
    for scope, whose, limit in ((TENANT, NO_KEY, of_tenant.max_voices), (KEY, key_id or NO_KEY, of_key.max_voices)):
        count = voices_of(tenant.id, whose).count() if limit else 0
        if limit and count >= limit:
            raise QuotaExceeded(QuotaState(scope, "max_voices", limit, count))
    full = reserve(tenant.id, key_id, size, quotas=quotas)
    if full is not None:
        raise QuotaExceeded(full)


@transaction.atomic
def _open(tenant: TenantRef, order: VoiceOrder, *, row_id: UUID, digest: str, size: int, actor: Actor) -> ClonedVoice:
    one_at_a_time(f"voices of {tenant.id}")
    if ClonedVoice.objects.filter(tenant_id=tenant.id).count() >= MOST_VOICES:
        raise TooManyVoices(params={"most": MOST_VOICES})
    _require_room(tenant, actor.api_key_id, size)
    consent = order.consent
    key_id = key_id_now(tenant)
    row = ClonedVoice.objects.create(
        id=row_id,
        tenant_id=tenant.id,
        name=order.name,
        engine=order.engine,
        language=order.language,
        transcript=transcript_column(tenant, row_id, order.transcript, key_id=key_id),
        upload_digest=digest,
        upload_size=size,
        sealed_by=key_id,
        consent_who=consent.who,
        consent_when=consent.when,
        consent_wording=consent.wording,
        api_key_id=actor.api_key_id,
        request_id=actor.request_id,
    )
    lend(tenant, row.id, row.sealed_by)
    note(row, Kind.CREATED, actor=actor, consent=asdict(consent), upload=digest, bytes=size)
    return row
