"""What is true of the request being served: its id, for answers, logs and records, and what the audit will tell of it.

The middleware begins both; authentication and views say what they know.
"""

from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import UUID

from tenants.ids import new_id, public_id


@dataclass(slots=True)
class Deed:
    """Who does what, as far as it is known. `recorded`: its event is written already, with the hit that it was."""

    tenant_id: UUID | None = None
    actor_kind: str = "nobody"
    actor_id: str = ""
    actor_name: str = ""
    object: str = ""
    outcome: str = ""
    cache: str = ""
    characters: int = 0
    text: tuple[str, str] = ("", "")
    changes: list[str] = field(default_factory=list)
    recorded: bool = False


current_request_id: ContextVar[str | None] = ContextVar("current_request_id", default=None)
current_deed: ContextVar[Deed | None] = ContextVar("current_deed", default=None)


def new_request_id() -> str:
    """`req_` and 32 hexadecimal digits that sort by time."""
    return public_id("req", new_id())


def request_id() -> str | None:
    """The id of the request being served here; None outside one."""
    return current_request_id.get()


def deed() -> Deed:
    """What is noted of the request being served here; outside one nobody reads it."""
    return current_deed.get() or Deed()
