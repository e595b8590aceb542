"""API keys as text, without a database: mint, parse, digest and verify. `service` and `authentication` call it.

A token is `rfr_<kind>_<lookup>_<secret><checksum>`. The prefix lets secret scanners know it and shows its kind,
the look-up part finds its row, the checksum refuses a mistyped or invented token before any look-up.
"""

import hmac
import re
import secrets
import string
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from tenants.quotas import NO_QUOTAS, Quotas
from tenants.types import Limit

PREFIX: Final = "rfr"
LOOKUP_LENGTH: Final = 12
SECRET_LENGTH: Final = 32  # of base62: 190 random bits
CHECKSUM_LENGTH: Final = 6  # of base62: holds 32 bits
BASE62: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase


class Kind(StrEnum):
    """A label for people and scanners; the rights of a key are its scopes alone."""

    LIVE = "live"
    TEST = "test"


TOKEN: Final = re.compile(
    rf"{PREFIX}_(?P<kind>{'|'.join(Kind)})_(?P<lookup>[0-9A-Za-z]{{{LOOKUP_LENGTH}}})"
    rf"_(?P<secret>[0-9A-Za-z]{{{SECRET_LENGTH}}})(?P<checksum>[0-9A-Za-z]{{{CHECKSUM_LENGTH}}})"
)


@dataclass(frozen=True, slots=True)
class ParsedKey:
    """The parts of a token whose form is right; nothing says yet that it was ever issued."""

    kind: Kind
    lookup: str
    secret: str


@dataclass(frozen=True, slots=True)
class MintedKey:
    """A new key. The token is shown once and kept nowhere; the rest is what a row keeps."""

    token: str
    lookup: str
    digest: str
    pepper: int

    def __repr__(self) -> str:
        return f"MintedKey(lookup={self.lookup!r}, pepper={self.pepper})"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """What is needed to judge a token: a row of keys as a value, for snapshots too.

    `tenant_active` is False while the key's tenant is suspended; `limit` and `quotas` are the key's own.
    """

    id: UUID
    tenant_id: UUID
    lookup: str
    digest: str
    pepper: int
    scopes: frozenset[str]
    expires_at: datetime | None
    revoked_at: datetime | None
    tenant_active: bool = True
    limit: Limit | None = None
    quotas: Quotas = NO_QUOTAS
    max_open_jobs: int = 0

    def usable_at(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


# Stands in for an unknown key, so that unknown and wrong cost the same work. No pepper has its number.
NOBODY: Final = KeyRecord(
    id=UUID(int=0),
    tenant_id=UUID(int=0),
    lookup="",
    digest="0" * 64,
    pepper=-1,
    scopes=frozenset(),
    expires_at=None,
    revoked_at=None,
)


def mint(kind: Kind, peppers: Mapping[int, str]) -> MintedKey:
    """A new random key, digested with the newest pepper (the highest number)."""
    lookup = _random(LOOKUP_LENGTH)
    body = f"{PREFIX}_{kind}_{lookup}_{_random(SECRET_LENGTH)}"
    token = body + checksum(body)
    newest = max(peppers)
    return MintedKey(token=token, lookup=lookup, digest=digest(token, peppers[newest]), pepper=newest)


def parse(token: str) -> ParsedKey | None:
    """The parts of a token, or None when its prefix, a length, its alphabet or its checksum is wrong."""
    match = TOKEN.fullmatch(token)
    if match is None or checksum(token[:-CHECKSUM_LENGTH]) != match["checksum"]:
        return None
    return ParsedKey(Kind(match["kind"]), match["lookup"], match["secret"])


def digest(token: str, pepper_secret: str) -> str:
    """HMAC-SHA256 of the whole token, in hexadecimal digits."""
    return hmac.digest(pepper_secret.encode(), token.encode(), "sha256").hex()


def matches(record: KeyRecord, token: str, *, peppers: Mapping[int, str]) -> bool:
    """Whether the token is the record's, usable or not. Every answer costs one HMAC."""
    found = hmac.compare_digest(digest(token, peppers.get(record.pepper, "")), record.digest)
    return found and record.pepper in peppers


def checksum(body: str) -> str:
    """CRC-32 in six base62 digits."""
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(BASE62))
        digits = BASE62[digit] + digits
    return digits


def _random(length: int) -> str:
    return "".join(secrets.choice(BASE62) for _ in range(length))
