"""Requests to a running Refrain, in a closed loop (so many at a time) or an open one (each at its time).

The load shares a small machine with what it measures, so it is plain http.client over one connection a thread.
"""

from __future__ import annotations

import http.client
import itertools
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from tests.stack import Stack

TIMEOUT = 90.0
POLL_SECONDS = 0.5

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer:
    """What came back in the end, and the seconds that it took. `status` is 0 when nothing came."""

    status: int
    body: dict[str, Any]
    seconds: float

    @property
    def good(self) -> bool:
        return self.status == 200 and self.body.get("status") == "succeeded"

    @property
    def cache(self) -> str:
        return str(self.body.get("cache", ""))


class Connection:
    """One kept-alive connection; opened again when it broke."""

    def __init__(self, port: int, token: str) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def exchange(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        try:
            self._http.request(method, path, body, self._headers)
            response = self._http.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            self._http.close()
            return 0, b"{}"


class Caller:
    """Speaks as the stack's owner at its first API process, from any number of threads."""

    def __init__(self, stack: Stack) -> None:
        self._port, self._token = stack.public_port, stack.seeded.owner
        self._local = threading.local()

    def speak(self, text: str, **fields: Any) -> Answer:
        """Waits for the sound, and asks for the job's end where that takes longer than a request may wait."""
        started = time.perf_counter()
        status, body = self._json("POST", "/v1/speech", {"text": text, "wait": 60, **fields})
        while status == 202 or body.get("status") in {"queued", "running"}:
            time.sleep(POLL_SECONDS)
            status, body = self._json("GET", f"/v1/speech/{body['id']}")
        return Answer(status, body, time.perf_counter() - started)

    @property
    def connection(self) -> Connection:
        if not hasattr(self._local, "connection"):
            self._local.connection = Connection(self._port, self._token)
        connection: Connection = self._local.connection
        return connection

    def _json(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        status, answer = self.connection.exchange(method, path, None if body is None else orjson.dumps(body))
        return status, orjson.loads(answer)


def closed_loop(send: Callable[[Item], Result], items: Sequence[Item], *, clients: int) -> list[Result]:
    """Each client sends its next item as soon as its last one is answered; the results in the order of the items."""
    results: dict[int, Result] = {}
    turns = itertools.count()

    def client() -> None:
        while (turn := next(turns)) < len(items):
            results[turn] = send(items[turn])

    with ThreadPoolExecutor(clients) as pool:
        for ended in [pool.submit(client) for _ in range(clients)]:
            ended.result()
    return [results[turn] for turn in range(len(items))]


def open_loop(
    send: Callable[[Item], Answer], items: Sequence[Item], times: Sequence[float], *, clients: int
) -> list[Answer]:
    """Sends each item at its time, whatever the earlier ones do; seconds count from then on."""

    def late(item: Item, due: float) -> Answer:
        answer = send(item)
        return Answer(answer.status, answer.body, time.perf_counter() - due)

    with ThreadPoolExecutor(clients) as pool:
        start = time.perf_counter() + 0.1
        pending = []
        for item, at in zip(items, times, strict=True):
            time.sleep(max(0.0, start + at - time.perf_counter()))
            pending.append(pool.submit(late, item, start + at))
        return [answer.result() for answer in pending]


def mean(answers: Sequence[Answer]) -> float:
    return statistics.fmean(answer.seconds for answer in answers)


def quantile(answers: Sequence[Answer], share: float) -> float:
    """Nearest rank."""
    ordered = sorted(answer.seconds for answer in answers)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
