"""Mixed work as tenants send it, by careful clients that ask again when nobody answers: for rows of many faults."""

from __future__ import annotations

import json
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

from tests.faults.asking import Answer, apis_of, send
from tests.faults.at_work import at_work
from tests.faults.scoreboard import Figures
from tests.stack import Stack

GIVE_UP_AFTER = 60.0  # seconds of asking again
TIMEOUT = 30.0
# No answer, a request with the same Idempotency-Key in hand, too much at once, and a part that is away.
ASK_AGAIN = frozenset({0, 409, 429, 503})
SPEECH, BATCHES = "/v1/speech", "/v1/batches"
LIMITS = {"unanswered": 0, "broken_answers": 0}


@dataclass(frozen=True)
class Request:
    body: dict[str, Any]
    path: str = SPEECH

    @property
    def is_told(self) -> bool:
        return "callback" in self.body


class Mix:
    """Requests in a random order that the seed decides. `callbacks` are whom some of them want told of their end."""

    def __init__(self, seed: int, *, callbacks: Sequence[str]) -> None:
        self._seed = seed
        self._dice = random.Random(seed)
        self._callbacks = callbacks
        self._said = 0
        self._lock = threading.Lock()

    def next(self) -> Request:
        with self._lock:
            make = self._dice.choices([kind for kind, _ in KINDS], [share for _, share in KINDS])[0]
            self._said += 1
            return make(self)

    def single(self) -> Request:
        return _speech(self._own())

    def equal(self, **fields: Any) -> Request:
        return _speech(self._everybodys(), **fields)

    def long(self) -> Request:
        """Sentences of which many other texts have one or another, and one of its own."""
        return _speech(self._with_shared_sentences())

    def refresh(self) -> Request:
        return self.equal(cache="refresh")

    def bypass(self) -> Request:
        return self.equal(cache="bypass")

    def told(self) -> Request:
        """Something new or something that is there already, with a callback."""
        text = self._dice.choice([self._own, self._everybodys, self._with_shared_sentences])()
        return _speech(text, callback=self._callback())

    def batch(self) -> Request:
        """Two items that nobody else has, and two of which others have the whole or a part."""
        own = [f"{self._own()} Item {at}." for at in range(2)]
        items = [{"text": text} for text in [*own, self._everybodys(), self._with_shared_sentences()]]
        return Request({"items": items, "callback": self._callback()}, BATCHES)

    def _callback(self) -> str:
        return self._dice.choice(self._callbacks)

    def _own(self) -> str:
        return f"Request {self._said} of seed {self._seed}."

    def _everybodys(self) -> str:
        return f"Everybody says number {self._dice.randrange(8)} of seed {self._seed}."

    def _with_shared_sentences(self) -> str:
        shared = [f"Part {self._dice.randrange(20)} of long texts of seed {self._seed}." for _ in range(3)]
        return " ".join([*shared, f"That was text {self._said}."])


# Each kind with its share in a hundred.
KINDS: tuple[tuple[Callable[[Mix], Request], int], ...] = (
    (Mix.single, 30),
    (Mix.equal, 10),
    (Mix.long, 15),
    (Mix.refresh, 8),
    (Mix.bypass, 7),
    (Mix.told, 20),
    (Mix.batch, 10),
)


def _speech(text: str, **fields: Any) -> Request:
    return Request({"text": text, "wait": 0, **fields})


class Load:
    """Some clients that send a mix, each request with an Idempotency-Key, and what they were told.

    `jobs` and `batches` are the ids that were given out, `awaited` those of them whose callback is to be told, and
    `items` how many the batches have. `again` counts the times that a client asked once more.
    """

    def __init__(self, stack: Stack, mix: Mix, *, clients: int, pause: float) -> None:
        """`pause` seconds lie between a client's requests."""
        self._stack = stack
        self._mix = mix
        self._clients = clients
        self._pause = pause
        self._lock = threading.Lock()
        self.jobs: set[str] = set()
        self.batches: set[str] = set()
        self.awaited: set[str] = set()
        self.items = 0
        self.answers: Counter[int] = Counter()
        self.again = 0
        self.unanswered = 0

    @contextmanager
    def asking(self) -> Iterator[None]:
        with at_work([self._ask_next] * self._clients, pause=self._pause):
            yield

    @property
    def made(self) -> int:
        """Texts that were to be spoken."""
        return len(self.jobs) + self.items

    def figures(self) -> Figures:
        """What the clients were told. A broken answer says neither yes nor later."""
        known = {200, 202, *ASK_AGAIN}
        return {
            "jobs": len(self.jobs),
            "hits": self.answers[200],
            "batches": len(self.batches),
            "items": self.items,
            "asked_again": self.again,
            "unanswered": self.unanswered,
            "broken_answers": sum(count for status, count in self.answers.items() if status not in known),
        }

    def _ask_next(self) -> None:
        request = self._mix.next()
        headers = {"Idempotency-Key": f'"{uuid.uuid4().hex}"'}
        gives_up_at = time.monotonic() + GIVE_UP_AFTER
        while time.monotonic() < gives_up_at:
            answer = self._send(request, headers)
            self._note(request, answer)
            if answer.status not in ASK_AGAIN:
                return
            threading.Event().wait(min(float(answer.body.get("retry_after", 0.2)), 1.0))
        self.unanswered += 1

    def _note(self, request: Request, answer: Answer) -> None:
        with self._lock:
            self.answers[answer.status] += 1
            self.again += answer.status in ASK_AGAIN
            accepted = str(answer.body.get("id", ""))
            if answer.status != 202 and not accepted.startswith("job_"):  # a hit; or asked again, and done by now
                return
            if request.is_told:
                self.awaited.add(accepted)
            if request.path == BATCHES:
                self.batches.add(accepted)
                self.items += len(request.body["items"])
            else:
                self.jobs.add(accepted)

    def _send(self, request: Request, headers: dict[str, str]) -> Answer:
        api = random.choice(apis_of(self._stack))  # as a load balancer would, and one that is down may be tried
        with closing(HTTPConnection("127.0.0.1", api.port, timeout=TIMEOUT)) as connection:
            said = {"Authorization": f"Bearer {self._stack.seeded.owner}", "Content-Type": "application/json"}
            return send(connection, json.dumps(request.body).encode(), said | headers, path=request.path)
