"""A TCP proxy that misbehaves on demand, between a client and a real server, for every test of a fault."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import Self

from tests.servers.ports import free_port

CHUNK = 16 * 1024
TICK = 0.05


class Way(Enum):
    """Which half of a connection a fault counts: what the client sends, or what it receives."""

    UP = auto()
    DOWN = auto()


class Kind(Enum):
    PASS = auto()
    DELAY = auto()
    CUT = auto()
    RESET = auto()
    HANG = auto()


@dataclass(frozen=True)
class Fault:
    """`after` bytes of a connection pass unharmed in the direction `way`; DELAY adds `seconds` to each chunk."""

    kind: Kind = Kind.PASS
    after: int = 0
    way: Way = Way.DOWN
    seconds: float = 0.0


class TcpProxy:
    """Listens on a port of its own, which stays the same over stop() and start(). A new fault acts on open connections.

    pass_through, delay, cut, reset and hang choose the mode; stop() refuses connections, as a dead server would.
    """

    def __init__(self, port: int, *, host: str = "127.0.0.1") -> None:
        self._target = (host, port)
        self._fault = Fault()
        self._connections: set[_Connection] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._acceptor: threading.Thread | None = None
        self.port = free_port()
        self.accepted = 0

    def pass_through(self) -> None:
        self._fault = Fault()

    def delay(self, seconds: float) -> None:
        """Hold back each chunk of an answer."""
        self._fault = Fault(Kind.DELAY, seconds=seconds)

    def cut(self, after: int, *, way: Way = Way.DOWN) -> None:
        """Close in good order once so many bytes have passed."""
        self._fault = Fault(Kind.CUT, after=after, way=way)

    def reset(self, after: int = 0, *, way: Way = Way.DOWN) -> None:
        """Like cut, but with a TCP reset."""
        self._fault = Fault(Kind.RESET, after=after, way=way)

    def hang(self, after: int = 0, *, way: Way = Way.DOWN) -> None:
        """Keep the connection open and pass nothing more, until the mode changes."""
        self._fault = Fault(Kind.HANG, after=after, way=way)

    @property
    def fault(self) -> Fault:
        return self._fault

    def start(self) -> None:
        listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        listener.settimeout(TICK)
        self._listener = listener
        self._acceptor = threading.Thread(target=self._accept, args=(listener,), daemon=True)
        self._acceptor.start()

    def stop(self) -> None:
        """Close everything and wait for every thread."""
        listener, self._listener = self._listener, None
        if listener is None or self._acceptor is None:
            return
        listener.close()
        self._acceptor.join()
        self.drop_connections()

    def drop_connections(self) -> None:
        with self._lock:
            open_now = list(self._connections)
        for connection in open_now:
            connection.close()
        for connection in open_now:
            connection.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def forget(self, connection: _Connection) -> None:
        with self._lock:
            self._connections.discard(connection)

    def _accept(self, listener: socket.socket) -> None:
        while self._listener is listener:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            self.accepted += 1
            connection = _Connection(self, client, self._target)
            with self._lock:
                self._connections.add(connection)
            connection.start()


class _Connection:
    """One client, one socket to the server, and a thread for each way between them."""

    def __init__(self, proxy: TcpProxy, client: socket.socket, target: tuple[str, int]) -> None:
        self._proxy = proxy
        self._client = client
        self._server: socket.socket | None = None
        self._target = target
        self._closed = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True)]

    def start(self) -> None:
        self._threads[0].start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def close(self, *, reset: bool = False) -> None:
        if self._closed.is_set():
            return
        self._closed.set()
        if reset:
            self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with suppress(OSError):
            self._client.shutdown(socket.SHUT_RD)  # tells nobody, and wakes the thread that reads: the end comes now

    def _run(self) -> None:
        """Connect, pump both ways, and close what is left: the sockets are closed here and nowhere else."""
        try:
            if self._breaks_at(0, Way.DOWN) or self._breaks_at(0, Way.UP):
                return
            self._server = socket.create_connection(self._target, timeout=5)
            upward = threading.Thread(target=self._pump, args=(self._client, self._server, Way.UP), daemon=True)
            upward.start()
            self._pump(self._server, self._client, Way.DOWN)
            upward.join()
        except OSError:
            self._closed.set()
        finally:
            self._client.close()
            if self._server is not None:
                self._server.close()
            self._proxy.forget(self)

    def _pump(self, source: socket.socket, sink: socket.socket, way: Way) -> None:
        source.settimeout(TICK)
        passed = 0
        try:
            while not self._breaks_at(passed, way):
                try:
                    chunk = source.recv(self._allowance(passed, way))
                except TimeoutError:
                    continue
                if not chunk:
                    sink.shutdown(socket.SHUT_WR)
                    break
                self._hold_back(way)
                _send_all(sink, chunk, self._closed)
                passed += len(chunk)
        except OSError:
            self.close()
        if way is Way.DOWN:
            self._closed.set()  # the server has said all: nothing the client adds can be answered

    def _breaks_at(self, passed: int, way: Way) -> bool:
        """Whether this way ends here; waits for as long as the fault is a hang."""
        while not self._closed.is_set():
            fault = self._proxy.fault
            if fault.kind not in {Kind.CUT, Kind.RESET, Kind.HANG} or fault.way is not way or passed < fault.after:
                return False
            if fault.kind is not Kind.HANG:
                self.close(reset=fault.kind is Kind.RESET)
                return True
            self._closed.wait(TICK)
        return True

    def _allowance(self, passed: int, way: Way) -> int:
        fault = self._proxy.fault
        if fault.kind in {Kind.CUT, Kind.RESET, Kind.HANG} and fault.way is way:
            return max(1, min(CHUNK, fault.after - passed))
        return CHUNK

    def _hold_back(self, way: Way) -> None:
        fault = self._proxy.fault
        if fault.kind is Kind.DELAY and fault.way is way:
            self._closed.wait(fault.seconds)


def _send_all(sink: socket.socket, chunk: bytes, closed: threading.Event) -> None:
    """Like sendall, but a receiver that does not read cannot hold the thread once the connection is closed."""
    sink.settimeout(TICK)
    view = memoryview(chunk)
    while view and not closed.is_set():
        try:
            view = view[sink.send(view) :]
        except TimeoutError:
            continue
