"""W2: webhooks of a tenant who wants them to reach this machine's network. Counts sockets that are really opened."""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_address, ip_network
from unittest.mock import patch

from synth.webhooks.addresses import Address, Policy
from synth.webhooks.http import ADDRESS_FORBIDDEN, Answer, NotSent, Sender
from synth.webhooks.names import LookUp
from tests.faults import forbidden_vectors as vectors
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.servers.receiver import Receiver, answers, wait_until

LEAST_VECTORS = 60
LOOPBACK = ("0.0.0.0", "::")  # what is listened on: all addresses of this machine
PERMITTED = "127.0.0.1"
PUBLIC_NAME = "public.example"


def play(_make_stack: MakeStack, *, seed: int) -> Figures:
    """Nothing in it is random."""
    with ExitStack() as stack:
        scene = Scene(stack)
        urls = list(_urls(scene.port, scene.other))
        sent = [*scene.try_urls(urls), *scene.try_answers(), *scene.try_redirects(), *scene.try_rebinding()]
        opened = scene.reached()
        controls_missed = scene.missing_controls()
    for name in sorted(name for name, refused in sent if not refused):
        print(f"W2: {name} was not refused", file=sys.stderr)
    return {
        "vectors_lacking": max(0, LEAST_VECTORS - len(sent)),
        "not_refused": sum(not refused for _, refused in sent),
        "sockets_opened": opened,
        "connections_tried": len(scene.strayed),
        "needless_lookups": scene.needless_lookups,
        "controls_missed": controls_missed,
    }


class Scene:
    """Listeners on all addresses of this machine, and senders whose every connection is noted.

    Plain http and the first listeners' port are allowed, so that nothing but the address speaks against most vectors.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._listeners, self.port = _listen(stack)
        self._unlisted, self.other = _listen(stack)
        self._permitted = stack.enter_context(Receiver(host=PERMITTED))
        self._tls = ssl.create_default_context()
        self._seen = 0
        self.needless_lookups = 0
        self.strayed: list[str] = []
        stack.enter_context(_watched(self._note))

    def try_urls(self, urls: Sequence[str]) -> list[tuple[str, bool]]:
        """As they are, through a name server that reads every spelling of a number as glibc does."""
        with self._sender(self._policy(), _numeric) as sender:
            futures = {url: sender.start(url, {}, b"{}") for url in urls}
            return [(repr(url), _refused(future)) for url, future in futures.items()]

    def try_answers(self) -> list[tuple[str, bool]]:
        tried = []
        for number, answer in enumerate(vectors.ANSWERS):
            lookups: list[str] = []
            with self._sender(self._policy(), _in_turns([answer], lookups)) as sender:
                refused = _refused(sender.start(f"http://v{number}.{PUBLIC_NAME}:{self.port}/", {}, b"{}"))
            tried.append((f"a name that is {answer}", refused))
            self.needless_lookups += max(0, len(lookups) - 1)
        return tried

    def try_redirects(self) -> list[tuple[str, bool]]:
        """The receiver is permitted; where it points to is not, and is not gone to."""
        tried = []
        for status in vectors.REDIRECTS:
            for target in vectors.REDIRECTED:
                head = f"HTTP/1.1 {status} Elsewhere\r\nLocation: {target.format(port=self.port)}\r\n"
                answer = f"{head}Content-Length: 0\r\n\r\n".encode()
                with (
                    Receiver(answers(answer)) as receiver,
                    self._sender(self._policy(receiver.port, inside=True), _numeric) as sender,
                ):
                    got = sender.start(f"http://{PERMITTED}:{receiver.port}/", {}, b"{}").result()
                tried.append((f"{status} to {target}", got.status == status and receiver.accepted == 1))
        return tried

    def try_rebinding(self) -> list[tuple[str, bool]]:
        """The first look-up of a name gives the permitted address, each later one another."""
        tried = []
        for later in ("127.0.0.2", "169.254.169.254", "::1", "10.0.0.1"):
            lookups: list[str] = []
            turns = [(PERMITTED,), (later,)]
            with self._sender(self._policy(inside=True), _in_turns(turns, lookups)) as sender:
                url = f"http://rebinding.example:{self._permitted.port}/"
                first, before = sender.start(url, {}, b"{}").result(), len(lookups)
                refused = _refused(sender.start(url, {}, b"{}"))
            tried.append((f"a name that becomes {later}", refused and first.status == 200 and before == 1))
            self.needless_lookups += max(0, len(lookups) - 2)
        return tried

    def reached(self) -> int:
        """How many connections came to where none should, since the last time."""
        listeners = (*self._listeners, *self._unlisted)
        for listener in listeners:
            self._settle(listener)
        seen = sum(listener.accepted for listener in listeners)
        fresh, self._seen = seen - self._seen, seen
        return fresh - len(listeners)

    def missing_controls(self) -> int:
        """The same spellings with a policy that allows all: how many do not come to the listeners."""
        before = len(self.strayed)
        everywhere = (ip_network("0.0.0.0/0"), ip_network("::/0"))
        hosts = [host for host in vectors.LOOPBACK if ":" not in host or len(self._listeners) > 1]
        with self._sender(Policy(False, frozenset({self.port}), everywhere), _numeric) as sender:
            futures = [sender.start(f"http://{host}:{self.port}/", {}, b"{}") for host in hosts]
            missed = sum(_refused(future) for future in futures)
        noted = len(self.strayed) - before
        del self.strayed[before:]
        return missed + abs(len(hosts) - self.reached()) + max(0, len(hosts) - noted)

    def _settle(self, listener: Receiver) -> None:
        """Connections are accepted in order: once one of ours was, all before it were."""
        loopback = "::1" if ":" in listener.host else "127.0.0.1"
        with socket.create_connection((loopback, listener.port), timeout=30) as ours:
            assert wait_until(lambda: ours.getsockname() in listener.peers), "a listener does not accept"

    def _sender(self, policy: Policy, look_up: LookUp) -> Sender:
        return Sender(policy, look_up=look_up, tls=self._tls)

    def _policy(self, *ports: int, inside: bool = False) -> Policy:
        networks = (ip_network(PERMITTED),) if inside else ()
        return Policy(False, frozenset({self.port, self._permitted.port, *ports}), networks)

    def _note(self, host: str, port: int) -> None:
        if host != PERMITTED or port == self.port:
            self.strayed.append(f"{host} {port}")


def _urls(port: int, other: int) -> Iterator[str]:
    for host in (*vectors.LOOPBACK, *vectors.PRIVATE, *vectors.INNER_NAMES):
        yield f"http://{host}:{port}/"
    for url in vectors.URLS:
        yield url.replace("{port}", str(port)).replace("{other}", str(other))


def _listen(stack: ExitStack) -> tuple[list[Receiver], int]:
    first = stack.enter_context(Receiver(host=LOOPBACK[0]))
    listeners = [first]
    with suppress(OSError):  # a machine without IPv6
        listeners.append(stack.enter_context(Receiver(host=LOOPBACK[1], port=first.port)))
    return listeners, first.port


def _refused(future: Future[Answer]) -> bool:
    try:
        future.result(timeout=60)
    except NotSent as error:
        return error.code == ADDRESS_FORBIDDEN
    return False


def _numeric(host: str, port: int) -> list[Address]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return [ip_address(endpoint[0]) for *_, endpoint in found]


def _in_turns(turns: Sequence[Sequence[str]], lookups: list[str]) -> LookUp:
    """A name server whose answer changes; the last one holds."""

    def look_up(host: str, _port: int) -> list[Address]:
        lookups.append(host)
        return [ip_address(address) for address in turns[min(len(lookups), len(turns)) - 1]]

    return look_up


@contextmanager
def _watched(note: Callable[[str, int], None]) -> Iterator[None]:
    """Tells of every connection that a sender's thread tries, also of those that lead nowhere."""
    connect = socket.socket.connect

    def watching(self: socket.socket, address: tuple[str, int]) -> None:
        if threading.current_thread().name == "webhooks":
            note(address[0], address[1])
        connect(self, address)

    with patch.object(socket.socket, "connect", watching):
        yield


ROW = Row(
    name="W2",
    title="webhooks to forbidden addresses: spellings, names, rebinding, redirects",
    play=play,
    short={},
    long={},
    limits={
        "vectors_lacking": 0,
        "not_refused": 0,
        "sockets_opened": 0,
        "connections_tried": 0,
        "needless_lookups": 0,
        "controls_missed": 0,
    },
)
