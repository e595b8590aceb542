"""Mixed work as tenants send it, by careful clients that ask again when nobody answers: for rows of many faults."""

from __future__ import annotations

import json
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

from tests.faults.asking import Answer, send
from tests.stack import Child, Stack

GIVE_UP_AFTER = 60.0  # seconds of asking again
TIMEOUT = 30.0
# No answer, a request with the same Idempotency-Key in hand, too much at once, and a part that is away.
ASK_AGAIN = frozenset({0, 409, 429, 503})


@dataclass(frozen=True)
class Request:
    body: dict[str, Any]
    path: str = "/v1/speech"


class Mix:
    """Requests in a random order that the seed decides."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._dice = random.Random(seed)
        self._said = 0
        self._lock = threading.Lock()

    def next(self) -> Request:
        with self._lock:
            make = self._dice.choices([kind for kind, _ in KINDS], [share for _, share in KINDS])[0]
            self._said += 1
            return make(self)

    def single(self) -> Request:
        return _speech(f"Request {self._said} of seed {self._seed}.")

    def equal(self, **fields: Any) -> Request:
        return _speech(f"Everybody says number {self._dice.randrange(8)} of seed {self._seed}.", **fields)

    def long(self) -> Request:
        """Sentences of which many other texts have one or another, and one of its own."""
        shared = [f"Part {self._dice.randrange(20)} of long texts of seed {self._seed}." for _ in range(3)]
        return _speech(" ".join([*shared, f"That was text {self._said}."]))

    def refresh(self) -> Request:
        return self.equal(cache="refresh")

    def bypass(self) -> Request:
        return self.equal(cache="bypass")


# Each kind with its share in a hundred.
KINDS: tuple[tuple[Callable[[Mix], Request], int], ...] = (
    (Mix.single, 45),
    (Mix.equal, 15),
    (Mix.long, 20),
    (Mix.refresh, 10),
    (Mix.bypass, 10),
)


def _speech(text: str, **fields: Any) -> Request:
    return Request({"text": text, "wait": 0, **fields})


class Load:
    """Some clients that send a mix, and what they were told: `jobs` by id, and how often each status was answered.

    `again` counts the times that a client asked once more; what was accepted before may then be there twice, unless
    its Idempotency-Key is heeded.
    """

    def __init__(self, stack: Stack, mix: Mix, *, clients: int, pause: float) -> None:
        """`pause` seconds lie between a client's requests."""
        self._stack = stack
        self._mix = mix
        self._clients = clients
        self._pause = pause
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self.jobs: set[str] = set()
        self.answers: Counter[int] = Counter()
        self.again = 0
        self.unanswered = 0

    @contextmanager
    def asking(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._ask_on, daemon=True) for _ in range(self._clients)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            for thread in threads:
                thread.join(GIVE_UP_AFTER + TIMEOUT)

    @property
    def broken_answers(self) -> int:
        """Answers that say neither yes nor later."""
        return sum(count for status, count in self.answers.items() if status not in {200, 202, *ASK_AGAIN})

    def _ask_on(self) -> None:
        while not self._ended.wait(self._pause):
            self._ask(self._mix.next())

    def _ask(self, request: Request) -> None:
        headers = {"Idempotency-Key": f'"{uuid.uuid4().hex}"'}
        gives_up_at = time.monotonic() + GIVE_UP_AFTER
        while time.monotonic() < gives_up_at:
            answer = self._send(request, headers)
            with self._lock:
                self.answers[answer.status] += 1
                self.again += answer.status in ASK_AGAIN
                if answer.status == 202:
                    self.jobs.add(answer.body["id"])
            if answer.status not in ASK_AGAIN:
                return
            threading.Event().wait(min(float(answer.body.get("retry_after", 0.2)), 1.0))
        self.unanswered += 1

    def _send(self, request: Request, headers: dict[str, str]) -> Answer:
        api = random.choice(apis(self._stack))  # as a load balancer would, and one that is down may be tried
        with closing(HTTPConnection("127.0.0.1", api.port, timeout=TIMEOUT)) as connection:
            said = {"Authorization": f"Bearer {self._stack.seeded.owner}", "Content-Type": "application/json"}
            return send(connection, json.dumps(request.body).encode(), said | headers, path=request.path)


def apis(stack: Stack) -> list[Child]:
    return [child for child in stack.children if child.port]
