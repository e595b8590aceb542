"""The tenants' own voices as engines need them: read from storage, and kept a while. synthesis.py asks per sentence."""

import threading
from collections.abc import Mapping
from uuid import UUID

from cachetools import LRUCache

from synth.audio.pcm import from_flac
from synth.errors import Permanent
from synth.keys import references_of
from synth.models import ClonedVoice
from synth.service.objects import read_checked
from synth.service.sealed_specs import transcript_of
from synth.stored import VOICE_TYPE, voice_object
from synth.types import Manner, Reference
from tenants.encryption import is_own
from tenants.types import TenantRef

# Bytes of samples: some ten voices of 30 s at the highest rate that is kept, far more of the usual ones.
MOST_BYTES = 64 * 2**20
_lock = threading.Lock()
_held: LRUCache[tuple[UUID, str], Reference] = LRUCache(MOST_BYTES, getsizeof=lambda held: held.pcm.samples.nbytes)


def load_references(tenant: TenantRef, manner: Manner) -> Mapping[str, Reference]:
    """By fingerprint, what this manner sounds like; empty for an engine's own voices.

    The database is asked each time: what was deleted is spoken no more, whoever holds its sound. Raises Permanent
    (`voice_gone`) then, ObjectMissing and StorageUnavailable.
    """
    wanted = references_of(manner)
    if not wanted:
        return {}
    rows = {row.fingerprint: row for row in ClonedVoice.ready(tenant.id, wanted)}
    if len(rows) != len(wanted):
        raise Permanent("the voice was deleted", code="voice_gone")
    return {fingerprint: _reference(tenant, row) for fingerprint, row in rows.items()}


def _reference(tenant: TenantRef, row: ClonedVoice) -> Reference:
    place = (tenant.id, row.fingerprint)
    with _lock:
        held = _held.get(place)
    if held is None:
        held = Reference(row.fingerprint, from_flac(_read(tenant, row)), row.language, transcript_of(row))
        if is_own(row.sealed_by):  # no longer in the memory than its key
            return held
        with _lock:
            _held[place] = held
    return held


def _read(tenant: TenantRef, row: ClonedVoice) -> bytes:
    name = voice_object(tenant, row.id, row.digest)
    return read_checked(tenant, name, row.digest, media_type=VOICE_TYPE, key_id=row.sealed_by)
