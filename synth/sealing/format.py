"""The sealed form of an object: AES-256-GCM in segments, so that any range of it can be opened alone.

A header, then segments of 64 KiB with their tags:

    version (1) | id of the key (36) | length in clear (8) | nonce (12) | wrapped data key (48) | commitment (32)

Every object has a fresh data key. What wraps that is derived from the tenant's key for this one label, so that a ticket
may carry it without opening anything else. The commitment names the one data key that may open: plain GCM can be made
to open under two. Bound to all of it: version, key id, length, tenant, name, media type, segment number, last or not.
"""

import hmac
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct, error
from typing import NoReturn
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tenants.encryption import ID_CHARACTERS, KEY_BYTES, NONCE_BYTES, SealingKey

VERSION = 1
SEGMENT = 64 * 1024
TAG = 16
_HEADER = Struct(f"!B{ID_CHARACTERS}sQ{NONCE_BYTES}s{KEY_BYTES + TAG}s32s")
_POSITION = Struct("!Q?")
HEADER_BYTES = _HEADER.size
MAX_BYTES = 2**40


class NotOpened(Exception):  # noqa: N818
    """Another key, another label or altered bytes: which of these is not told."""


@dataclass(frozen=True, slots=True)
class Label:
    """What sealed bytes are, and where they belong: they open nowhere else."""

    tenant: UUID
    name: str
    media_type: str = ""

    @property
    def bound(self) -> bytes:
        parts = (self.tenant.bytes, self.name.encode(), self.media_type.encode())
        return b"".join(len(part).to_bytes(4) + part for part in parts)


@dataclass(frozen=True, slots=True)
class LabelKey:
    """What opens the bytes of one label and no others."""

    id: str
    secret: bytes = field(repr=False)
    label: Label

    def __reduce__(self) -> NoReturn:
        raise TypeError("a sealing key is never serialised")


@dataclass(frozen=True, slots=True)
class Span:
    """Where in the sealed bytes a range of the plain ones lies, both ends included; `first` is its first segment."""

    start: int
    end: int
    first: int


def label_key(key: SealingKey, label: Label) -> LabelKey:
    return LabelKey(key.id, _derived(key.secret, b"refrain label v1\0" + label.bound, KEY_BYTES), label)


def name_under(key: SealingKey, digest: str) -> str:
    """The name of bytes with this digest that this key seals: equal sounds under other keys have other names, and who
    has no key cannot tell a sound by its name.
    """
    naming = _derived(key.secret, b"refrain names v1", KEY_BYTES)
    return hmac.digest(naming, digest.encode(), "sha256").hex()


def seal(data: bytes, key: LabelKey) -> bytes:
    data_key, nonce = secrets.token_bytes(KEY_BYTES), secrets.token_bytes(NONCE_BYTES)
    bound = _bound(key, len(data))
    wrapped = AESGCM(key.secret).encrypt(nonce, data_key, bound)
    cipher, commitment = _opened_by(data_key, bound)
    header = _HEADER.pack(VERSION, key.id.encode(), len(data), nonce, wrapped, commitment)
    last = _segments(len(data)) - 1
    pieces = (
        cipher.encrypt(_nonce(number), data[number * SEGMENT : (number + 1) * SEGMENT], bound + _at(number, last))
        for number in range(last + 1)
    )
    return header + b"".join(pieces)


def open_sealed(sealed: bytes, key: LabelKey) -> bytes:
    """All of it. Raises NotOpened."""
    opener = Opener(sealed[:HEADER_BYTES], key)
    if len(sealed) != opener.sealed_size:
        raise NotOpened
    return b"".join(opener.segments(iter((sealed[HEADER_BYTES:],)), first=0, end=opener.sealed_size - 1))


def key_id_of(header: bytes) -> str:
    """The id of the key that has sealed this, as the header says. Raises NotOpened."""
    return _unpacked(header)[1].decode("ascii", "replace")


class Opener:
    """Opens segments of one sealed object. Raises NotOpened, in everything that it does."""

    def __init__(self, header: bytes, key: LabelKey) -> None:
        version, key_id, self.size, nonce, wrapped, commitment = _unpacked(header)
        if version != VERSION or key_id != key.id.encode() or self.size > MAX_BYTES:
            raise NotOpened
        self._bound = _bound(key, self.size)
        try:
            data_key = AESGCM(key.secret).decrypt(nonce, wrapped, self._bound)
        except InvalidTag as failure:
            raise NotOpened from failure
        self._cipher, expected = _opened_by(data_key, self._bound)
        if not hmac.compare_digest(expected, commitment):
            raise NotOpened
        self._last = _segments(self.size) - 1

    @property
    def sealed_size(self) -> int:
        return HEADER_BYTES + self.size + TAG * (self._last + 1)

    def span(self, start: int, end: int) -> Span:
        """What has to be read for these plain bytes, both ends included."""
        first, last = start // SEGMENT, min(end // SEGMENT, self._last)
        ends = min(HEADER_BYTES + (last + 1) * (SEGMENT + TAG), self.sealed_size)
        return Span(HEADER_BYTES + first * (SEGMENT + TAG), ends - 1, first)

    def segments(self, chunks: Iterator[bytes], *, first: int, end: int) -> Iterator[bytes]:
        """The plain segments, from what is read of the span that begins with segment `first` and ends at `end`."""
        number, held = first, bytearray()
        whole, expected = SEGMENT + TAG, end + 1 - HEADER_BYTES - first * (SEGMENT + TAG)
        for chunk in chunks:
            held += chunk
            while len(held) > whole or (len(held) == whole and expected > whole):
                yield self._open(number, bytes(held[:whole]))
                del held[:whole]
                number, expected = number + 1, expected - whole
        if len(held) != expected:
            raise NotOpened
        yield self._open(number, bytes(held))

    def _open(self, number: int, sealed: bytes) -> bytes:
        try:
            return self._cipher.decrypt(_nonce(number), sealed, self._bound + _at(number, self._last))
        except InvalidTag as failure:
            raise NotOpened from failure


def _unpacked(header: bytes) -> tuple[int, bytes, int, bytes, bytes, bytes]:
    try:
        version, key_id, size, nonce, wrapped, commitment = _HEADER.unpack(header)
    except error as failure:
        raise NotOpened from failure
    return version, key_id, size, nonce, wrapped, commitment


def _bound(key: LabelKey, size: int) -> bytes:
    return bytes((VERSION,)) + key.id.encode() + size.to_bytes(8) + key.label.bound


def _opened_by(data_key: bytes, bound: bytes) -> tuple[AESGCM, bytes]:
    """The cipher of the segments, and the commitment to this data key."""
    both = _derived(data_key, b"refrain content v1\0" + bound, 64)
    return AESGCM(both[:32]), both[32:]


def _derived(secret: bytes, purpose: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length=length, salt=None, info=purpose).derive(secret)


def _segments(size: int) -> int:
    """At least one, so that of an empty object, too, the end is sealed."""
    return max(1, -(-size // SEGMENT))


def _nonce(number: int) -> bytes:
    """The data key is used for one object alone, so that its segments' numbers are never used twice."""
    return number.to_bytes(NONCE_BYTES)


def _at(number: int, last: int) -> bytes:
    return _POSITION.pack(number, number == last)
