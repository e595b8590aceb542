"""The keyed digests of the audit. Pure but for the keys, which settings hold: who alters rows without them is found."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest, digest
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from tenants.models import AuditChain, AuditEvent, AuditSegment

FORM = 1  # of what is digested
ROW = (
    "sequence", "id", "at", "actor_kind", "actor_id", "actor_name", "action", "object", "status", "outcome", "cache",
    "characters", "count", "request_id", "address", "text_kind", "text", "detail", "tenant_id",
)  # fmt: skip
SEGMENT = ("number", "first", "last", "count", "rows", "previous", "latest_at", "sealed_at", "tenant_id")
TOMBSTONE = ("dropped_number", "dropped_last", "dropped_mac", "dropped_at")


class UnknownKey(Exception):  # noqa: N818
    """No setting holds the key of this number."""


def current_key() -> int:
    return max(settings.REFRAIN_AUDIT_KEYS)


def mac(purpose: str, chain: UUID, content: Sequence[Any], *, key_id: int) -> str:
    """64 hexadecimal digits. Raises UnknownKey."""
    secret = settings.REFRAIN_AUDIT_KEYS.get(key_id)
    if secret is None:
        raise UnknownKey(str(key_id))
    said = orjson.dumps([FORM, *content])
    return digest(_key(secret, purpose, chain), said, "sha256").hex()


def row_mac(row: AuditEvent, *, key_id: int, sequence: int | None = None) -> str:
    """Of a row at its place, or at another one."""
    content = [_said(getattr(row, name)) for name in ROW]
    if sequence is not None:
        content[0] = sequence
    return mac("row", row.chain, content, key_id=key_id)


def segment_mac(segment: AuditSegment) -> str:
    return mac("segment", segment.chain, [_said(getattr(segment, name)) for name in SEGMENT], key_id=segment.key_id)


def tombstone_seal(chain: AuditChain) -> str:
    return mac("dropped", chain.id, [_said(getattr(chain, name)) for name in TOMBSTONE], key_id=chain.dropped_key)


def rows_digest(macs: Iterable[str]) -> str:
    return sha256("".join(macs).encode()).hexdigest()


def same(one: str, other: str) -> bool:
    return compare_digest(one.encode(), other.encode())


def text_hashes(chain: UUID, text: str) -> list[str]:
    """What a text is kept as where it is kept as a hash, the current key's first: to find rows that tell of it."""
    data = text.encode("utf-8", "replace")
    newest_first = sorted(settings.REFRAIN_AUDIT_KEYS, reverse=True)
    return [digest(_key(settings.REFRAIN_AUDIT_KEYS[key], "text", chain), data, "sha256").hex() for key in newest_first]


@lru_cache(4_000)
def _key(secret: str, purpose: str, chain: UUID) -> bytes:
    """One for each purpose and tenant, so that nothing sealed for one can stand for another."""
    return digest(secret.encode(), b"refrain audit\0" + purpose.encode() + b"\0" + chain.bytes, "sha256")


def _said(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return value.hex if isinstance(value, UUID) else value
