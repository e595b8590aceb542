"""A tenant's server that takes webhooks: it keeps what came and answers as a test tells it to."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from standardwebhooks import Webhook


@dataclass(frozen=True)
class Delivered:
    """One request; `at` is the monotonic clock when it had come whole, `time` the try among those of its id."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    time: int

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


class Receiver:
    """Use it as a context manager. `reply` may be exchanged at any time."""

    def __init__(self, reply: Callable[[Delivered], Reply] | None = None) -> None:
        self.reply = reply or (lambda _: Reply())
        self.received: list[Delivered] = []
        self.most_at_once = 0
        self.ended = threading.Event()
        self._at_once = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.receiver = self

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"

    def tries(self, event_id: str) -> list[Delivered]:
        return [each for each in list(self.received) if each.id == event_id]

    def ids(self) -> set[str]:
        return {each.id for each in list(self.received)}

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> Delivered:
        with self._lock:
            before = sum(each.id == headers["webhook-id"] for each in self.received)
            delivered = Delivered(path, headers, body, time.monotonic(), before + 1)
            self.received.append(delivered)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        return delivered

    def answered(self) -> None:
        with self._lock:
            self._at_once -= 1

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    receiver: Receiver


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        delivered = receiver.take(self.path, headers, body)
        try:
            self._answer(receiver.reply(delivered))
        finally:
            receiver.answered()

    def _answer(self, reply: Reply) -> None:
        self.server.receiver.ended.wait(reply.delay)
        with contextlib.suppress(OSError):
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)
            while reply.trickle and not self.server.receiver.ended.wait(reply.trickle):
                self.wfile.write(b".")

    def log_message(self, *_: object) -> None:
        """Nothing: tests read what came from `received`."""
