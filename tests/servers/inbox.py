"""A tenant's server that takes webhooks: it keeps what came, and answers each as a test tells it to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from standardwebhooks import Webhook

from tests.servers.receiver import Receiver, Visit


@dataclass(frozen=True)
class Delivered:
    """One request. `at` is the monotonic clock when it had come whole, `number` the try among those of its id."""

    headers: Mapping[str, str]
    path: str
    body: bytes
    at: float
    number: int

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def timestamp(self) -> int:
        return int(self.headers["webhook-timestamp"])

    def verified(self, secret: str) -> dict[str, Any]:
        """The payload as the library of Standard Webhooks reads it. Raises WebhookVerificationError."""
        payload: dict[str, Any] = Webhook(secret).verify(self.body, dict(self.headers))
        return payload


@dataclass(frozen=True)
class Reply:
    """`delay` seconds pass before it; with `trickle` a byte of an endless body comes every so many seconds."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"taken"
    delay: float = 0.0
    trickle: float = 0.0


class Inbox:
    """Use it as a context manager. `reply` may be exchanged at any time."""

    def __init__(self, reply: Callable[[Delivered], Reply] | None = None) -> None:
        self.reply = reply or (lambda _: Reply())
        self.received: list[Delivered] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._receiver = Receiver(self._visited)

    @property
    def port(self) -> int:
        return self._receiver.port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"

    def tries(self, event_id: str) -> list[Delivered]:
        return [each for each in list(self.received) if each.id == event_id]

    def ids(self) -> set[str]:
        return {each.id for each in list(self.received)}

    def __enter__(self) -> Self:
        self._receiver.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._receiver.__exit__()

    def _visited(self, visit: Visit) -> None:
        delivered = self._take(visit)
        try:
            _answer(visit, self.reply(delivered))
        finally:
            with self._lock:
                self._at_once -= 1

    def _take(self, visit: Visit) -> Delivered:
        with self._lock:
            before = len(self.tries(visit.headers["webhook-id"]))
            path = visit.line.split()[1]
            delivered = Delivered(visit.headers, path, visit.body, time.monotonic(), before + 1)
            self.received.append(delivered)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        return delivered


def _answer(visit: Visit, reply: Reply) -> None:
    visit.stopping.wait(reply.delay)
    length = {} if reply.trickle else {"Content-Length": str(len(reply.body))}
    lines = [f"{name}: {value}" for name, value in {**length, **reply.headers}.items()]
    visit.send("\r\n".join([f"HTTP/1.1 {reply.status} Said", *lines, "", ""]).encode() + reply.body)
    while reply.trickle and not visit.stopping.wait(reply.trickle):
        visit.send(b".")
