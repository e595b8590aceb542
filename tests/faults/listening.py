"""A tenant's receiver beside a load: what it was told, verified by the library of Standard Webhooks, and what not."""

from __future__ import annotations

import threading
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from typing import Self

from standardwebhooks import WebhookVerificationError

from tests.faults.asking import comes_true
from tests.faults.scoreboard import Figures
from tests.servers.inbox import Delivered, Inbox, Reply
from tests.stack import Stack

TOLD_WITHIN = 60.0
# Of so many events one is refused when it first comes.
ONE_IN = 8
PAUSES = (1.0, 2.0, 4.0, 8.0, 8.0, 8.0)
TIMEOUT = 3.0
LIMITS = {"events_missing": 0, "events_of_nothing": 0, "events_under_two_ids": 0, "unverified": 0}


def webhook_environment(ports: Iterable[int], *, pauses: Iterable[float], timeout: float) -> dict[str, str]:
    """Webhooks may go to these ports of this machine."""
    return {
        "REFRAIN_WEBHOOK_HTTP": "yes",
        "REFRAIN_WEBHOOK_NETWORKS": "127.0.0.0/8",
        "REFRAIN_WEBHOOK_PORTS": ",".join(map(str, ports)),
        "REFRAIN_WEBHOOK_PAUSES": ",".join(map(str, pauses)),
        "REFRAIN_WEBHOOK_TIMEOUT": str(timeout),
    }


class Listener:
    """Open it, start a stack in its environment, subscribe; what a load names as `callbacks` is then told here."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._lock = threading.Lock()
        self._id = self._secret = ""
        self._ways: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._taken: set[str] = set()
        self._unverified = 0

    @classmethod
    @contextmanager
    def open(cls) -> Iterator[Self]:
        with Inbox() as inbox:
            listener = cls(inbox)
            inbox.reply = listener._take
            yield listener

    @property
    def environment(self) -> dict[str, str]:
        return webhook_environment([self._inbox.port], pauses=PAUSES, timeout=TIMEOUT)

    @property
    def callbacks(self) -> tuple[str, str]:
        """Its id, and an address that it vouches for."""
        return self._id, f"{self._inbox.url}/elsewhere"

    def subscribe(self, stack: Stack) -> None:
        """To what names it as a callback, by the API."""
        order = {"url": self._inbox.url, "events": ["quota.warning"], "any_path": True}
        with stack.client() as client:
            answer = client.post("/v1/webhooks", json=order)
        assert answer.status_code == 201, answer.text
        self._id, self._secret = answer.json()["id"], answer.json()["secret"]

    def figures(self, stack: Stack, expected: Set[str]) -> Figures:
        """`expected` are the ids of what it should be told of. An event is the end of one of them."""
        comes_true(stack, lambda: expected <= self._taken, seconds=TOLD_WITHIN)
        with self._lock:
            return {
                "events": len(expected),
                "requests": len(self._inbox.received),
                "events_missing": len(expected - self._taken),
                "events_of_nothing": len(self._ways.keys() - expected),
                "events_under_two_ids": sum(len(ways) > 1 for ways in self._ways.values()),
                "unverified": self._unverified,
            }

    def _take(self, request: Delivered) -> Reply:
        """At once: the library refuses what is older than five minutes."""
        try:
            payload = request.verified(self._secret)
        except WebhookVerificationError:
            self._unverified += 1
            return Reply(status=400)
        refused = request.number == 1 and zlib.crc32(request.id.encode()) % ONE_IN == 0
        with self._lock:
            self._ways[payload["data"]["id"]].add((payload["type"], request.id))
            if not refused:
                self._taken.add(payload["data"]["id"])
        return Reply(status=503 if refused else 200)
