"""The sound of an answer that is given again, in the form that it had. The speech door calls it."""

from synth import wiring
from synth.errors import ObjectMissing, ServiceUnavailable, SpeechFailed, StorageUnavailable
from synth.models import Entry
from synth.service.object_sweep import hold
from synth.service.objects import read_intact
from synth.service.remaking import remake, rendering_of
from synth.stored import audio_object
from synth.types import StoredAudio
from tenants.ids import parse_id
from tenants.types import Caller, TenantRef


def heard_again(caller: Caller, stored: StoredAudio, *, with_bytes: bool) -> tuple[StoredAudio, bytes | None]:
    """What storage has of it, with the bytes where they are wanted; made anew where storage has lost it.

    Raises as `remake` does, and ServiceUnavailable.
    """
    if _is_erased(caller.tenant, stored):
        raise SpeechFailed.of("voice_gone", repeats=True)
    try:
        return _there(caller, stored, with_bytes=with_bytes)
    except ObjectMissing:
        stored = remake(caller, stored.id)
    try:
        return _there(caller, stored, with_bytes=with_bytes)
    except ObjectMissing as error:
        raise ServiceUnavailable(code=error.code, retry_after=2) from error


def _is_erased(tenant: TenantRef, stored: StoredAudio) -> bool:
    """With its voice, though storage may not have let go of it yet."""
    entry_id = parse_id("ent", stored.id)
    if Entry.objects.filter(tenant_id=tenant.id, id__in=[entry_id], digest=stored.digest).exists():
        return False
    made = rendering_of(tenant, stored.id)
    return made is not None and not made.digest


def _there(caller: Caller, stored: StoredAudio, *, with_bytes: bool) -> tuple[StoredAudio, bytes | None]:
    try:
        if with_bytes:
            return stored, read_intact(caller.tenant, stored)
        hold(caller.tenant, stored.digest)
        wiring.object_store().head(audio_object(caller.tenant, stored.digest, stored.format))
    except StorageUnavailable as error:
        raise ServiceUnavailable(code=error.code, retry_after=2) from error
    return stored, None
