"""The keys that seal what is kept of a tenant, the platform's or its own: as values, and how they are wrapped.

`tenants.sealing` keeps the rows; `synth.sealing` seals bytes with them.
"""

import hmac
import secrets
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tenants.errors import Problem
from tenants.errors import untranslated as _

KEY_BYTES = 32
NONCE_BYTES = 12
PLATFORM = "dek"  # how ids of keys of the platform begin
OWN = "own"  # and those of tenants' own
ID_CHARACTERS = 36
_ID_PURPOSE = b"refrain tenant key id v1"


class EncryptionKeyRequired(Problem):
    status = 400
    code = "encryption_key_required"
    title = _("Encryption key required")
    detail = _("This account keeps its speech under a key of its own. Send it: Refrain-Encryption-Key: <base64>.")


class EncryptionKeyUnexpected(Problem):
    """Its sender would believe that it protects something."""

    status = 400
    code = "encryption_key_unexpected"
    title = _("Encryption key not in use")
    detail = _("This account does not keep its speech under a key of its own: send no Refrain-Encryption-Key.")


class OffWithOwnKey(Problem):
    """What needs the tenant's key or its texts while the tenant is not there."""

    status = 409
    code = "off_with_own_key"
    title = _("Not with a key of your own")
    detail = _("This account keeps its speech under a key of its own, and this would need that key later, without you.")


class EncryptionKeyRefused(Problem):
    """An unregistered or a wrong key, and data that was altered: all answer alike."""

    status = 403
    code = "encryption_key_refused"
    title = _("Encryption key refused")
    detail = _("This encryption key is not registered, or does not open what is kept here.")


class EncryptionUnavailable(Problem):
    """The platform's key that has wrapped the tenant's is not among the settings."""

    status = 503
    code = "encryption_unavailable"
    title = _("Encryption unavailable")
    detail = _("The platform's encryption keys cannot be used at the moment.")


class Unwrappable(Exception):  # noqa: N818
    """None of the platform's keys opens this."""


@dataclass(frozen=True, slots=True)
class SealingKey:
    """256 bits and their public id. Neither shown nor pickled: so it gets into no log and onto no broker."""

    id: str
    secret: bytes = field(repr=False)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a sealing key is never serialised")

    @property
    def is_own(self) -> bool:
        return is_own(self.id)


def is_own(key_id: str) -> bool:
    return key_id.startswith(f"{OWN}_")


def own_key(tenant_id: UUID, secret: bytes) -> SealingKey:
    """A tenant's own key under its id, an HMAC by the key itself: the id tells nothing of it."""
    digest = hmac.digest(secret, _ID_PURPOSE + tenant_id.bytes, "sha256")
    return SealingKey(f"{OWN}_{digest.hex()[:32]}", secret)


def read_own_key(tenant_id: UUID, text: str) -> SealingKey:
    """From the base64 of a header, with or without padding, of either alphabet. Raises EncryptionKeyRefused."""
    plain = text.strip().rstrip("=").replace("-", "+").replace("_", "/")
    try:
        secret = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (Error, ValueError):
        secret = b""
    if len(secret) != KEY_BYTES:
        raise EncryptionKeyRefused
    return own_key(tenant_id, secret)


class PlatformKeys:
    """The key-encryption keys of the settings, by their ids, the current one first."""

    def __init__(self, by_id: Mapping[str, bytes]) -> None:
        self._by_id = dict(by_id)

    @property
    def current(self) -> str:
        """The id of the key that wraps; "" where there is none."""
        return next(iter(self._by_id), "")

    def wrap(self, secret: bytes, *, purpose: str) -> str:
        """`<key id>:<base64>`, which opens for this purpose alone. Raises Unwrappable without any key."""
        if not self._by_id:
            raise Unwrappable
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = AESGCM(self._by_id[self.current]).encrypt(nonce, secret, _bound(self.current, purpose))
        return f"{self.current}:{b64encode(nonce + sealed).decode()}"

    def unwrap(self, wrapped: str, *, purpose: str) -> bytes:
        """Raises Unwrappable."""
        key_id, _parted, text = wrapped.partition(":")
        secret = self._by_id.get(key_id)
        if secret is None:
            raise Unwrappable
        try:
            sealed = b64decode(text, validate=True)
            return AESGCM(secret).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound(key_id, purpose))
        except (InvalidTag, ValueError) as error:
            raise Unwrappable from error

    def __reduce__(self) -> Any:
        raise TypeError("keys are never serialised")


def wrapped_by(wrapped: str) -> str:
    """The id of the platform's key that has wrapped this."""
    return wrapped.partition(":")[0]


def _bound(key_id: str, purpose: str) -> bytes:
    return f"refrain wrapped key v1\0{key_id}\0{purpose}".encode()
