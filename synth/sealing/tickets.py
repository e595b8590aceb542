"""Tickets for sealed sounds: what a player needs to hear one, sealed itself, in an address that lives for a while.

`synth.service.links` gives them out, `synth.api.sealed` takes them.
"""

import time
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from synth.sealing.format import Label, LabelKey

# Part of the key's derivation: the same text seals other things under other keys.
_PURPOSE = b"refrain audio tickets v1"


class BadTicket(Exception):  # noqa: N818
    """Altered, or given out by somebody else."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One sealed object until `expires` (Unix seconds). `secret` opens that one alone; b"" where the platform has its

    key anyway.
    """

    label: Label
    key_id: str
    expires: int
    secret: bytes = field(default=b"", repr=False)

    @property
    def key(self) -> LabelKey | None:
        return LabelKey(self.key_id, self.secret, self.label) if self.secret else None

    @property
    def seconds_left(self) -> int:
        return max(0, self.expires - int(time.time()))


class TicketOffice:
    """The first key text seals tickets; each of them opens."""

    def __init__(self, key_texts: Sequence[str]) -> None:
        self._box = MultiFernet([Fernet(_key(text)) for text in key_texts])

    def issue(self, ticket: Ticket) -> str:
        label = ticket.label
        held = [label.tenant.hex, label.name, label.media_type, ticket.key_id, ticket.expires]
        sealed = self._box.encrypt(orjson.dumps([*held, b64encode(ticket.secret).decode()]))
        return sealed.decode().rstrip("=")

    def read(self, text: str) -> Ticket:
        """Raises BadTicket. Whether it has expired is the caller's to ask."""
        try:
            held = orjson.loads(self._box.decrypt((text + "=" * (-len(text) % 4)).encode()))
        except (InvalidToken, UnicodeEncodeError) as error:
            raise BadTicket from error
        tenant, name, media_type, key_id, expires, secret = held
        return Ticket(Label(UUID(hex=tenant), name, media_type), key_id, expires, b64decode(secret))


def _key(text: str) -> bytes:
    return urlsafe_b64encode(HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(text.encode()))
