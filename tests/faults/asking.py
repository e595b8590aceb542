"""Crowds of requests at one moment, and what the rows say afterwards: for the rows of the scoreboard and for flows."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

import httpx

from tests.stack import Child, Stack

ENDED = ("succeeded", "failed", "canceled")
PATIENCE = 90.0


@dataclass(frozen=True)
class Answer:
    """One answer, and the seconds that it took. `status` is 0 when there was none."""

    status: int
    body: dict[str, Any]
    seconds: float
    retry_after: str | None = None

    @property
    def sha256(self) -> str:
        return str(self.body.get("sha256"))


def apis_of(stack: Stack) -> list[Child]:
    return [child for child in stack.children if child.port]


def crowd(
    stack: Stack, bodies: Sequence[dict[str, Any]], *, apis: Sequence[Child] | None = None, key: str = ""
) -> list[Answer]:
    """Post all bodies at one moment, spread evenly over the API processes, with this `Idempotency-Key` if there is one.

    By the standard library's client over connections that are open already: a costlier one would slow the servers
    that it shares the machine with.
    """
    doors = apis or [api for api in apis_of(stack) if api.alive]
    headers = {"Authorization": f"Bearer {stack.seeded.owner}", "Content-Type": "application/json"}
    headers |= {"Idempotency-Key": key} if key else {}
    barrier = threading.Barrier(len(bodies))
    answers: list[Answer] = [Answer(0, {}, 0.0)] * len(bodies)

    def ask(number: int) -> None:
        body = json.dumps(bodies[number]).encode()
        connection = HTTPConnection("127.0.0.1", doors[number % len(doors)].port, timeout=PATIENCE)
        with closing(connection):
            with contextlib.suppress(OSError):
                connection.connect()
            barrier.wait(PATIENCE)
            answers[number] = send(connection, body, headers)

    threads = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(len(bodies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    return answers


def send(connection: HTTPConnection, body: bytes, headers: dict[str, str], *, path: str = "/v1/speech") -> Answer:
    started = time.monotonic()
    try:
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        content = response.read()
    except (OSError, HTTPException) as error:
        return Answer(0, {"error": repr(error)}, time.monotonic() - started)
    seconds = time.monotonic() - started
    return Answer(response.status, json.loads(content), seconds, response.getheader("Retry-After"))


def post(client: httpx.Client, body: dict[str, Any]) -> Answer:
    started = time.monotonic()
    try:
        response = client.post("/v1/speech", json=body)
    except httpx.TransportError as error:
        return Answer(0, {"error": repr(error)}, time.monotonic() - started)
    return Answer(response.status_code, response.json(), time.monotonic() - started)


def rows(stack: Stack, query: str) -> list[tuple[Any, ...]]:
    """What the database of a stack answers, asked directly."""
    return stack.seeded.ask(query)


def number(stack: Stack, query: str) -> int:
    return int(rows(stack, query)[0][0])


def open_jobs(stack: Stack) -> int:
    return number(stack, f"SELECT count(*) FROM synth_job WHERE state NOT IN {ENDED}")


def jobs_in(stack: Stack, state: str) -> int:
    return number(stack, f"SELECT count(*) FROM synth_job WHERE state = '{state}'")


def open_actions(stack: Stack) -> int:
    """Batches among them."""
    return number(stack, f"SELECT count(*) FROM synth_curationaction WHERE state NOT IN {ENDED}")


def wait_until_all_end(stack: Stack, jobs: int, *, seconds: float) -> float:
    """Until so many jobs are there, and all have ended, batches too; the seconds that it took, at most `seconds`."""
    return seconds_until(
        stack,
        lambda: (
            number(stack, "SELECT count(*) FROM synth_job") >= jobs and not open_actions(stack) and not open_jobs(stack)
        ),
        most=seconds,
    )


def comes_true(stack: Stack, predicate: Callable[[], object], *, seconds: float) -> bool:
    """Whether it does within so many seconds."""
    try:
        stack.wait_until(predicate, seconds=seconds)
    except AssertionError:
        return False
    return True


def seconds_until(stack: Stack, predicate: Callable[[], object], *, most: float) -> float:
    started = time.monotonic()
    return time.monotonic() - started if comes_true(stack, predicate, seconds=most) else most


def double_results(stack: Stack) -> int:
    """Sentences and renditions that were stored more often than once."""
    syntheses = "SELECT count(*) - count(DISTINCT flight) FROM synth_synthesis WHERE state = 'succeeded'"
    renderings = "SELECT count(*) - count(DISTINCT flight) FROM synth_rendering WHERE state = 'succeeded'"
    return number(stack, syntheses) + number(stack, renderings)


def runs_of(stack: Stack, text: str) -> int:
    return sum(run["text"] == text for run in stack.runs())


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
