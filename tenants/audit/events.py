"""An audit event as a value: what doors note, what travels through Redis, and what a row is made from."""

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Self
from uuid import UUID

import orjson

from tenants.ids import new_id

GAP = "gap"
OK = "ok"
KEY, OPERATOR, SIGNED, NOBODY, SYSTEM = "key", "operator", "signed_url", "nobody", "system"
ACTORS = (KEY, OPERATOR, SIGNED, NOBODY, SYSTEM)
# What a row has room for; what a caller sent may be longer.
ROOM = {
    "actor_id": 64, "actor_name": 200, "action": 160, "object": 200, "outcome": 64, "cache": 16, "request_id": 64,
    "address": 64, "text_kind": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Who did what, when, from where, to what, and how it ended. `detail` is JSON."""

    action: str
    id: UUID = field(default_factory=new_id)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    actor_kind: str = NOBODY
    actor_id: str = ""
    actor_name: str = ""
    object: str = ""
    status: int = 0
    outcome: str = OK
    cache: str = ""
    characters: int = 0
    count: int = 1
    request_id: str = ""
    address: str = ""
    text_kind: str = ""
    text: str = ""
    detail: str = ""

    def packed(self) -> bytes:
        """As it travels. What cannot be said in UTF-8 is said with question marks."""
        return orjson.dumps({item.name: _sendable(getattr(self, item.name)) for item in fields(self)})

    @classmethod
    def unpacked(cls, data: bytes | str) -> Self:
        """From any version's: what is not known here is left out."""
        said: dict[str, Any] = orjson.loads(data)
        known = {item.name: said[item.name] for item in fields(cls) if item.name in said}
        return cls(**{**known, "id": UUID(said["id"]), "at": datetime.fromisoformat(said["at"])})

    def columns(self) -> dict[str, Any]:
        """What a row of it holds: no longer than its columns, and without what PostgreSQL cannot keep."""
        said = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            name: clean(value)[: ROOM.get(name)] if isinstance(value, str) else value for name, value in said.items()
        }


def clean(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def as_json(**said: Any) -> str:
    """For `detail`: the same text for the same content."""
    return orjson.dumps(said, option=orjson.OPT_SORT_KEYS, default=str).decode()


def _sendable(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
