"""R3: Redis drops every connection of its clients, again and again, while clients wait for what they ask."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import httpx

from tests.faults.asking import Answer, double_results, number, open_jobs, post, wait_until_all_end
from tests.faults.at_work import at_work
from tests.faults.ground import dead, started
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.servers.redis import RedisServer
from tests.stack import Stack

CLIENTS = 6


def play(make_stack: MakeStack, *, seed: int, seconds: float, every: float, run: float) -> Figures:
    stack = started(make_stack, {"COUNTING_SECONDS": str(run)})
    speakers = Speakers(stack, seed)
    with speakers.speaking():
        stack.wait_until(lambda: len(speakers.notes) >= CLIENTS, seconds=60, what="the first answers")
        calm = time.monotonic()
        threading.Event().wait(seconds)
        broken = time.monotonic()
        dropped = _drop_again_and_again(stack.redis, every=every, until=broken + seconds)
        ended = time.monotonic()
    wait_until_all_end(stack, 1, seconds=60)
    before, during = speakers.answered(calm, broken), speakers.answered(broken, ended)
    return {
        "dropped_connections": dropped,
        "answers_when_calm": before / (broken - calm),
        "answers_when_dropped": during / (ended - broken),
        "share_lost": 1 - during / (ended - broken) / max(before / (broken - calm), 0.001),
        "not_ok": sum(answer.status not in {200, 202} for _, answer in speakers.notes),
        "lost": number(stack, "SELECT count(*) FROM synth_job WHERE state <> 'succeeded'"),
        "stuck": open_jobs(stack),
        "double_results": double_results(stack),
        "dead_processes": dead(stack),
    }


def _drop_again_and_again(redis: RedisServer, *, every: float, until: float) -> int:
    dropped = 0
    with redis.client() as client:
        while time.monotonic() < until:
            dropped += int(client.client_kill_filter(_type="normal", skipme=True))
            threading.Event().wait(every)
    return dropped


class Speakers:
    """Each asks for something new once the last is answered, and notes when it was."""

    def __init__(self, stack: Stack, seed: int) -> None:
        self._stack = stack
        self._texts = (f"Sentence {at} of seed {seed}." for at in itertools.count())
        self._lock = threading.Lock()
        self.notes: list[tuple[float, Answer]] = []

    @contextmanager
    def speaking(self) -> Iterator[None]:
        with self._stack.client() as client, at_work([partial(self._speak, client)] * CLIENTS):
            yield

    def answered(self, since: float, until: float) -> int:
        return sum(answer.status == 200 for at, answer in self.notes if since <= at < until)

    def _speak(self, client: httpx.Client) -> None:
        with self._lock:
            text = next(self._texts)
        answer = post(client, {"text": text, "wait": 30})
        self.notes.append((time.monotonic(), answer))


ROW = Row(
    name="R3",
    title="every connection of Redis dropped, again and again",
    play=play,
    short={"seconds": 4.0, "every": 1.5, "run": 0.3},
    long={"seconds": 120.0, "every": 5.0, "run": 0.3},
    limits={"not_ok": 0, "lost": 0, "stuck": 0, "double_results": 0, "dead_processes": 0},
    long_limits={"share_lost": 0.3},
)
