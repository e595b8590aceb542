"""Reads stored audio, and believes only the bytes that were put there. What is sealed is opened on the way."""

from collections.abc import Iterator
from hashlib import sha256
from typing import IO

from synth import wiring
from synth.audio.formats import get_format
from synth.errors import ObjectMissing
from synth.sealing.format import HEADER_BYTES, SEGMENT, LabelKey, NotOpened, Opener
from synth.service.sealing import opened, opening, refusal
from synth.storage.base import ObjectInfo
from synth.stored import STORED_FORMAT, audio_object
from synth.types import StoredAudio
from tenants.types import TenantRef

OTHER_BYTES = "the stored bytes are not the ones that were put there"


def read_intact(tenant: TenantRef, stored: StoredAudio) -> bytes:
    """A finished sound. Raises StorageUnavailable, ObjectMissing also when its bytes are others, and as `opened` does.

    A file format's own checksum would not do: FLAC's is of the samples, and does not tell that their rate was altered.
    """
    name = audio_object(tenant, stored.digest, stored.format)
    return read_checked(tenant, name, stored.digest, media_type=stored.media_type, key_id=stored.sealed_by)


def read_sentence(tenant: TenantRef, digest: str, *, key_id: str | None = "") -> bytes:
    """A stored sentence. Raises as `read_intact` does."""
    name, media_type = audio_object(tenant, digest, STORED_FORMAT), get_format(STORED_FORMAT).media_type
    return read_checked(tenant, name, digest, media_type=media_type, key_id=key_id or "")


def read_checked(tenant: TenantRef, name: str, digest: str, *, media_type: str = "", key_id: str = "") -> bytes:
    """Whatever lies under a name, as long as it has this digest or its key opens it. Raises as `read_intact` does."""
    data = wiring.object_store().get(name)
    if key_id:
        return opened(tenant, name, data, media_type=media_type, key_id=key_id)
    if sha256(data).hexdigest() != digest:
        raise ObjectMissing(OTHER_BYTES)
    return data


def copy_intact(tenant: TenantRef, stored: StoredAudio, target: IO[bytes]) -> None:
    """The same into a file, so that no memory holds a long sound. Once it raises, the file is worth nothing."""
    name = audio_object(tenant, stored.digest, stored.format)
    if stored.sealed_by:
        key = opening(tenant, name, stored.media_type, key_id=stored.sealed_by)
        for chunk in SealedObject(name, key).stream(name, 0, max(0, stored.size - 1)):
            target.write(chunk)
        return
    digest = sha256()
    for chunk in wiring.object_store().stream(name, 0, stored.size - 1):
        digest.update(chunk)
        target.write(chunk)
    if digest.hexdigest() != stored.digest:
        raise ObjectMissing(OTHER_BYTES)


class SealedObject:
    """One sealed object of the store, to be read in clear, any range of it. Raises as `read_intact` does."""

    def __init__(self, name: str, key: LabelKey) -> None:
        self._key = key
        try:
            self._opener = Opener(b"".join(wiring.object_store().stream(name, 0, HEADER_BYTES - 1)), key)
        except (NotOpened, ValueError):  # an empty object has no first byte
            raise refusal(key.id) from None
        if wiring.object_store().head(name).size != self._opener.sealed_size:
            raise refusal(key.id)

    @property
    def info(self) -> ObjectInfo:
        return ObjectInfo(size=self._opener.size, media_type=self._key.label.media_type)

    def stream(self, name: str, start: int, end: int) -> Iterator[bytes]:
        """The first segment is opened before this returns: what cannot be heard is refused, not begun."""
        span = self._opener.span(start, end)
        chunks = wiring.object_store().stream(name, span.start, span.end)
        segments = self._opener.segments(chunks, first=span.first, end=span.end)
        try:
            first = next(segments)
        except NotOpened:
            raise refusal(self._key.id) from None
        return self._cut(first, segments, skip=start - span.first * SEGMENT, length=end - start + 1)

    def _cut(self, first: bytes, others: Iterator[bytes], *, skip: int, length: int) -> Iterator[bytes]:
        piece = first[skip : skip + length]
        while piece:
            yield piece
            length -= len(piece)
            piece = self._following(others)[:length] if length else b""

    def _following(self, segments: Iterator[bytes]) -> bytes:
        try:
            return next(segments, b"")
        except NotOpened:  # the answer has begun: it ends here, shorter than it said
            raise refusal(self._key.id) from None
