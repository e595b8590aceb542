"""Reads stored audio, and believes only the bytes that were put there."""

from hashlib import sha256

from synth import wiring
from synth.errors import ObjectMissing
from synth.stored import audio_object
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
