"""Signs webhooks by the Standard Webhooks specification, and seals the secrets that sign them for the database.

Called by service/webhooks/endpoints.py, which makes secrets, and service/webhooks/payloads.py, which signs.
"""

import secrets as randomness
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import UTC, datetime

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from standardwebhooks import Webhook

SECRET_PREFIX = "whsec_"  # noqa: S105 - what every secret begins with
SECRET_BYTES = 32
# Part of the key's derivation: the same text seals other things under other keys.
_PURPOSE = b"refrain webhook secrets v1"


class SealedByAnotherKey(Exception):  # noqa: N818
    """The sealed secret was altered, or none of the keys given sealed it."""


class Seal:
    """Keeps secrets unreadable in the database. The first key text seals; each of them opens."""

    def __init__(self, key_texts: Sequence[str]) -> None:
        self._box = MultiFernet([Fernet(_key(text)) for text in key_texts])

    def seal(self, secret: str) -> str:
        return self._box.encrypt(secret.encode()).decode("ascii")

    def open(self, sealed: str) -> str:
        """Raises SealedByAnotherKey."""
        try:
            return self._box.decrypt(sealed.encode()).decode()
        except InvalidToken as error:
            raise SealedByAnotherKey from error


def new_secret() -> str:
    return SECRET_PREFIX + b64encode(randomness.token_bytes(SECRET_BYTES)).decode("ascii")


def signature(secrets: Sequence[str], message_id: str, timestamp: datetime, *, body: bytes) -> str:
    """The header `webhook-signature`: one for each secret. `webhook-timestamp` is the whole seconds of `timestamp`."""
    # The library takes the clock's digits for UTC, whatever zone they are in.
    moment, text = timestamp.astimezone(UTC), body.decode()
    return " ".join(Webhook(secret).sign(message_id, moment, text) for secret in secrets)


def _key(text: str) -> bytes:
    return urlsafe_b64encode(HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(text.encode()))
