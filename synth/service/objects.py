"""Reads stored audio, and believes only the bytes that were put there."""

from hashlib import sha256
from typing import IO

from synth import wiring
from synth.errors import ObjectMissing
from synth.stored import audio_object
from synth.types import StoredAudio
from tenants.types import TenantRef


def read_intact(tenant: TenantRef, digest: str, format_name: str) -> bytes:
    """The object of this digest. Raises StorageUnavailable, and ObjectMissing also when its bytes are others.

    A file format's own checksum would not do: FLAC's is of the samples, and does not tell that their rate was altered.
    """
    return read_checked(audio_object(tenant, digest, format_name), digest)


def read_checked(name: str, digest: str) -> bytes:
    """Whatever lies under a name, as long as it has this digest. Raises as `read_intact` does."""
    data = wiring.object_store().get(name)
    if sha256(data).hexdigest() != digest:
        raise ObjectMissing("the stored bytes are not the ones that were put there")
    return data


def copy_intact(tenant: TenantRef, stored: StoredAudio, target: IO[bytes]) -> None:
    """The same into a file, so that no memory holds a long sound. Once it raises, the file is worth nothing."""
    name = audio_object(tenant, stored.digest, stored.format)
    digest = sha256()
    for chunk in wiring.object_store().stream(name, 0, stored.size - 1):
        digest.update(chunk)
        target.write(chunk)
    if digest.hexdigest() != stored.digest:
        raise ObjectMissing("the stored bytes are not the ones that were put there")
