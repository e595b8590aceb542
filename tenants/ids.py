"""Public ids: a typed prefix and a UUIDv7, so that ids sort by time and show their kind."""

from datetime import datetime
from uuid import UUID

from uuid6 import uuid7


def new_id() -> UUID:
    """A fresh UUIDv7 (RFC 9562) as the standard library's type."""
    return UUID(int=uuid7().int)


def first_id_at(moment: datetime) -> UUID:
    """What sorts before every id that was made at this time or later."""
    return UUID(int=int(moment.timestamp() * 1000) << 80)


def public_id(prefix: str, value: UUID) -> str:
    """`job`, UUID -> `job_0192…` (32 hexadecimal digits)."""
    return f"{prefix}_{value.hex}"


def parse_id(prefix: str, text: str) -> UUID | None:
    """The UUID behind a public id, or None when the text is not one of this kind."""
    head, _, digits = text.partition("_")
    if head != prefix or len(digits) != 32:
        return None
    try:
        return UUID(hex=digits)
    except ValueError:
        return None
