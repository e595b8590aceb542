"""Makes voices of uploads: what an io worker does when their bell rings. Each is decoded in a process of its own."""

import logging
import threading
import time
from dataclasses import replace
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction

from synth import cards, wiring
from synth.audio.apart import read_reference_apart
from synth.audio.pcm import to_flac
from synth.audio.references import ReferenceAudio, ReferenceLimits, ReferenceRefused
from synth.conf import conf
from synth.errors import ObjectMissing, Retryable, WorkError
from synth.models import ClonedVoice, VoiceEvent, VoiceSettings
from synth.models.clock import database_now
from synth.models.states import State
from synth.queue.claim import MAX_ATTEMPTS, Worker, claim_voice, fenced
from synth.queue.doorbell import VOICES
from synth.queue.lease import kept_alive, let_the_lease_run_out
from synth.queue.shutdown import stopping
from synth.service.endings import Failure, give_back
from synth.service.erasing import erase, erase_files
from synth.service.objects import read_checked
from synth.service.sealed_specs import transcript_of
from synth.service.sealing import name_of, sealed
from synth.service.voice_events import note, tell_ready, tell_refused
from synth.service.work_keys import KeyGone, at_work, take_back
from synth.stored import VOICE_TYPE, upload_object, voice_object
from synth.types import CLONED
from tenants.encryption import is_own
from tenants.errors import untranslated as _
from tenants.types import TenantRef
from tenants.versions import raise_versions

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 30.0
AT_ONCE = 20
_draining = threading.Lock()
Kind = VoiceEvent.Kind
Upload = ClonedVoice.Upload
NAME_TAKEN = _("There is another voice %(name)s of this engine already.")
SAME_VOICE = _("This sound is a voice already.")
NOT_READ = _("The upload could not be read on our side. Send it again.")


def drain_voices(worker: Worker) -> None:
    """Decode one upload after another for at most 30 s, then erase what was deleted. One round at a time in a process:

    each takes memory and processor time from those who wait for speech.
    """
    if not _draining.acquire(blocking=False):
        return
    try:
        wiring.doorbell().answered(VOICES)
        ends_at = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < ends_at and not stopping.is_set():
            claim = claim_voice(worker)
            if claim is None:
                break
            decode(claim)
        else:
            wiring.doorbell().ring_voices()
        _clear()
    finally:
        _draining.release()


def decode(claim: ClonedVoice) -> None:
    """Make one claimed upload a voice, or say why not."""
    if claim.attempt > MAX_ATTEMPTS:
        _refuse(claim, claim.error_code or "worker_lost", NOT_READ)
        return
    try:
        with (
            kept_alive(
                claim,
                lease=conf().lease,
                interval=conf().heartbeat,
                deadline=conf().deadline,
                at_deadline=let_the_lease_run_out,
            ),
            at_work(TenantRef(claim.tenant_id), claim.sealed_by),
        ):
            _publish(claim, read_reference_apart(_upload_of(claim), limits=_limits(claim)))
    except ReferenceRefused as refused:
        if refused.may_pass:
            _retry(claim, Failure(code=refused.code))
        else:
            _refuse(claim, refused.code, refused.message, refused.params)
    except KeyGone as error:
        _refuse(claim, error.code, NOT_READ)
    except ObjectMissing:
        _refuse(claim, "upload_lost", NOT_READ)
    except (WorkError, MemoryError) as error:
        _retry(claim, Failure(code=getattr(error, "code", "out_of_memory"), detail=str(error)))
    except Exception:  # whatever it was: the upload must not wait for its lease to run out
        logger.exception("upload of voice %s broke", claim.id)
        _retry(claim, Failure(code="internal_error"))


def _upload_of(claim: ClonedVoice) -> bytes:
    tenant = TenantRef(claim.tenant_id)
    return read_checked(tenant, upload_object(tenant, claim.id), claim.upload_digest, key_id=claim.sealed_by)


def _limits(claim: ClonedVoice) -> ReferenceLimits:
    """The platform's, and within these what the engine can use."""
    limits = ReferenceLimits(max_bytes=conf().voice_upload_limit)
    card = next((card for card in cards.current_cards() if card.name == claim.engine), None)
    if card is None or card.cloning is None:
        return limits
    shortest = max(limits.shortest, card.cloning.minimum)
    return replace(limits, shortest=shortest, longest=max(shortest, min(limits.longest, card.cloning.maximum)))


def fingerprint_of(claim: ClonedVoice, audio: ReferenceAudio) -> str:
    """Of all that makes the voice: its sound, and what the engine is told of it."""
    told = "\0".join((audio.fingerprint, claim.engine, claim.language, transcript_of(claim)))
    return CLONED + sha256(told.encode()).hexdigest()[:32]


def _publish(claim: ClonedVoice, audio: ReferenceAudio) -> None:
    """Bytes to storage, then the fenced commit."""
    tenant, data = TenantRef(claim.tenant_id), to_flac(audio.pcm)
    claim.digest = name_of(tenant, sha256(data).hexdigest(), key_id=claim.sealed_by)
    claim.fingerprint = fingerprint_of(claim, audio)
    _erase_namesakes(claim)
    # Before the bytes are there: of whatever becomes of this row, these are deleted along.
    if not fenced(claim).update(digest=claim.digest):
        return
    name = voice_object(tenant, claim.id, claim.digest)
    kept = sealed(tenant, name, data, media_type=VOICE_TYPE, key_id=claim.sealed_by)
    wiring.object_store().put(name, kept, VOICE_TYPE)
    try:
        published = _commit(claim, audio)
    except IntegrityError:  # another upload of the name or the sound was faster: next time it is found
        raise Retryable("another upload was faster", code="voice_busy") from None
    if not published and not ClonedVoice.objects.filter(id=claim.id).exclude(state=State.CANCELED).exists():
        erase_files(claim)  # it was deleted, and what was found then is gone


def _erase_namesakes(claim: ClonedVoice) -> None:
    """What is left of a deleted voice of this sound must not be taken for the new one's."""
    deleted = ClonedVoice.objects.filter(
        tenant_id=claim.tenant_id, fingerprint=claim.fingerprint, state=State.CANCELED
    ).exclude(id=claim.id)
    if not all(erase(row) for row in deleted):
        raise Retryable("the same voice is being erased", code="voice_busy")


@transaction.atomic
def _commit(claim: ClonedVoice, audio: ReferenceAudio) -> bool:
    """False when the claim was lost."""
    ready = ClonedVoice.objects.filter(tenant_id=claim.tenant_id, state=State.SUCCEEDED)
    twin = ready.filter(fingerprint=claim.fingerprint).first()
    if twin is not None:
        if not _end(claim, same_as=twin.id, state=State.FAILED, error_code="same_voice", error_detail=SAME_VOICE):
            return False
        tell_ready(claim, name=twin.name)
        return True
    if ready.filter(engine=claim.engine, name=claim.name).exists():
        return _refuse(claim, "name_taken", NAME_TAKEN, {"name": claim.name})
    kept = VoiceSettings.objects.filter(tenant_id=claim.tenant_id, keep_uploads=True).exists()
    sound = {"fingerprint": claim.fingerprint, "seconds": audio.seconds, "sample_rate": audio.pcm.sample_rate}
    upload = Upload.KEPT if kept else Upload.DUE
    if not _end(claim, state=State.SUCCEEDED, upload=upload, error_code="", error_detail="", **sound):
        return False
    note(claim, Kind.READY, format=audio.format, seconds=round(audio.seconds, 3), kept_upload=kept)
    tell_ready(claim, name=claim.name)
    raise_versions([claim.tenant_id])
    return True


@transaction.atomic
def _refuse(claim: ClonedVoice, code: str, message: str, params: Any = None) -> bool:
    """False when the claim was lost."""
    claim.fingerprint = ""
    told = {"error_code": code, "error_detail": message, "error_params": dict(params or {})}
    if not _end(claim, state=State.FAILED, **told):
        return False
    note(claim, Kind.REFUSED, reason=code)
    tell_refused(claim, code=code, message=message % told["error_params"] if told["error_params"] else message)
    return True


def _end(claim: ClonedVoice, **changes: Any) -> bool:
    """False when the claim was lost: another worker has it, or the voice was deleted meanwhile."""
    changes.setdefault("upload", Upload.DUE)
    if is_own(claim.sealed_by):
        take_back([claim.id])
    return fenced(claim).update(ended_at=database_now(), lease_until=None, **changes) == 1


def _retry(claim: ClonedVoice, failure: Failure) -> None:
    if claim.attempt >= MAX_ATTEMPTS:
        _refuse(claim, failure.code, NOT_READ)
    else:
        give_back(claim, failure)


def _clear() -> None:
    """Delete what is no longer needed; what storage does not let go of now is left to the next round."""
    for row in ClonedVoice.objects.filter(state=State.CANCELED).order_by("ended_at")[:AT_ONCE]:
        erase(row)
    for row in ClonedVoice.objects.filter(upload=Upload.DUE).exclude(state=State.CANCELED)[:AT_ONCE]:
        try:
            _delete_upload(row)
        except WorkError as error:
            logger.warning("the upload of voice %s is not deleted yet: %s", row.id, error)


def _delete_upload(row: ClonedVoice) -> None:
    """Of a voice its upload, of what was refused all."""
    if row.state == State.SUCCEEDED:
        wiring.object_store().delete(upload_object(TenantRef(row.tenant_id), row.id))
    else:
        erase_files(row)
    ClonedVoice.objects.filter(id=row.id, upload=Upload.DUE).update(upload=Upload.GONE)
