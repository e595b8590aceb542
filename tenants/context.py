"""What is true of the request being served: its id, for answers, logs and records. The middleware sets it."""

from contextvars import ContextVar

from tenants.ids import new_id, public_id

current_request_id: ContextVar[str | None] = ContextVar("current_request_id", default=None)


def new_request_id() -> str:
    """`req_` and 32 hexadecimal digits that sort by time."""
    return public_id("req", new_id())


def request_id() -> str | None:
    """The id of the request being served here; None outside one."""
    return current_request_id.get()
