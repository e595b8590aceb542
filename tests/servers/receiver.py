"""A receiver of webhooks on one address: takes real connections, keeps what came, and answers, or does not, as told."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

TICK = 0.05
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Behaviour = Callable[["Visit"], None]


@dataclass
class Visit:
    """One connection, once its request was read. `stopping` is set when the test is over."""

    connection: socket.socket
    head: str
    body: bytes
    stopping: threading.Event

    @property
    def line(self) -> str:
        return self.head.split("\r\n", 1)[0]

    @property
    def headers(self) -> dict[str, str]:
        pairs = (line.split(":", 1) for line in self.head.split("\r\n")[1:] if line)
        return {name.strip().lower(): value.strip() for name, value in pairs}

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)


def answers(data: bytes = OK) -> Behaviour:
    return lambda visit: visit.send(data)


def hangs(visit: Visit) -> None:
    visit.stopping.wait(60)


def drips(start: bytes) -> Behaviour:
    """`start` at once, then a byte at a time for a minute."""

    def drip(visit: Visit) -> None:
        visit.send(start)
        for _ in range(600):
            if visit.stopping.wait(0.1):
                return
            visit.send(b"x")

    return drip


class Receiver:
    """Use it as a context manager. `peers` are all that connected, `visits` those that sent a whole request."""

    def __init__(
        self,
        behaviour: Behaviour | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._behaviour, self._tls, self.host = behaviour or answers(), tls, host
        self._stopping = threading.Event()
        self._listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if ":" in host:
            self._listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self._listener.bind((host, port))
        self._listener.listen(128)
        self._listener.settimeout(TICK)
        self.port: int = self._listener.getsockname()[1]
        self.peers: list[tuple[str, int]] = []
        self.visits: list[Visit] = []

    @property
    def accepted(self) -> int:
        return len(self.peers)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._listener.close()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, peer = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            self.peers.append(peer)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(60)
        with suppress(OSError), self._spoken(connection) as spoken:
            visit = self._read(spoken)
            if visit:
                self.visits.append(visit)
                self._behaviour(visit)
            spoken.shutdown(socket.SHUT_WR)

    def _spoken(self, connection: socket.socket) -> socket.socket:
        return self._tls.wrap_socket(connection, server_side=True) if self._tls else connection

    def _read(self, connection: socket.socket) -> Visit | None:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(4096)
            if not piece:
                return None
            data += piece
        head, body = data.split(b"\r\n\r\n", 1)
        visit = Visit(connection, head.decode("latin-1"), body, self._stopping)
        while len(visit.body) < int(visit.headers.get("content-length", "0")):
            visit.body += connection.recv(4096)
        return visit


def wait_until(condition: Callable[[], bool], *, seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
