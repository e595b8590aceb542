"""R6: every process is replaced in good order, one after the other, while clients go on asking.

In front stands what a deployment has: a balancer that sends nothing new to a process that is to end, and that asks
another one when a connection is refused.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.faults.asking import ENDED, comes_true, jobs_in, number, open_jobs, wait_until_all_end
from tests.faults.at_work import at_work
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.moves import watch
from tests.stack import Child, Stack

PATIENCE = 120.0


@dataclass
class Clients:
    """Ask for one new text after another, each until its job has ended, and note what went wrong."""

    stack: Stack
    doors: list[Child]
    seed: int
    asked: int = 0
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self) -> None:
        with self.lock:
            self.asked += 1
            text = f"Job number {self.asked} of seed {self.seed}."
        try:
            self._speak(text)
        except (httpx.HTTPError, AssertionError) as error:
            self.failures.append(f"{text} {error!r}")

    def _speak(self, text: str) -> None:
        answer = self._ask("POST", "/v1/speech", {"text": text, "wait": 30})
        deadline = time.monotonic() + PATIENCE
        while answer["status"] not in ENDED:
            assert time.monotonic() < deadline, answer
            time.sleep(0.1)
            answer = self._ask("GET", f"/v1/speech/{answer['id']}", None)
        assert answer["status"] == "succeeded", answer

    def _ask(self, method: str, path: str, body: Any) -> Any:
        deadline = time.monotonic() + PATIENCE
        while True:
            door = random.choice(self.doors)
            try:
                with self.stack.client(door) as client:
                    answer = client.request(method, path, json=body)
            except httpx.ConnectError:  # nothing was sent: a balancer asks another one
                if time.monotonic() > deadline:
                    raise
                continue
            assert answer.status_code in {200, 202}, (answer.status_code, answer.text)
            return answer.json()


@dataclass
class Roll:
    """Ends processes by SIGTERM and notes how."""

    stack: Stack
    slowest: float = 0.0
    bad_exits: int = 0
    left_running: int = 0

    def replace(self, old: Child, start: Callable[[], list[Child]], doors: list[Child] | None = None) -> list[Child]:
        new = start()
        if doors is not None:
            doors.extend(new)
            doors.remove(old)
        self.end(old)
        return new

    def end(self, old: Child) -> None:
        started = time.monotonic()
        self.bad_exits += self.stack.terminate(old, seconds=PATIENCE) != 0
        self.slowest = max(self.slowest, time.monotonic() - started)
        comes_true(self.stack, lambda: not _group_lives(old), seconds=5)
        self.left_running += _group_lives(old)


def _group_lives(child: Child) -> bool:
    try:
        os.killpg(child.pid, 0)
    except ProcessLookupError:
        return False
    return True


def play(make_stack: MakeStack, *, seed: int, jobs: int, run: float, clients: int, each: int) -> Figures:
    stack = make_stack(env={"COUNTING_SECONDS": str(run)})
    moves = watch(stack.seeded)
    with stack.at_once():
        apis, engines, ios, beat = stack.api(each), stack.engine_worker(each), stack.io_worker(each), stack.beat()
    stack.wait_for_engines()
    asking, roll = Clients(stack, doors=list(apis), seed=seed), Roll(stack)
    with at_work([asking.ask] * clients):
        stack.wait_until(stack.runs, seconds=60, what="the first run")
        for old in apis:
            roll.replace(old, stack.api, asking.doors)
        for old in engines:
            roll.replace(old, stack.engine_worker)
        for old in ios:
            roll.replace(old, stack.io_worker)
        roll.end(beat)
        stack.beat()
        comes_true(stack, lambda: asking.asked >= jobs, seconds=PATIENCE)
    for failure in asking.failures:
        print(failure)
    wait_until_all_end(stack, asking.asked, seconds=60)
    return _figures(stack, asking, roll, soft_limit=run) | {"forbidden_moves": len(moves.forbidden())}


def _figures(stack: Stack, asking: Clients, roll: Roll, *, soft_limit: float) -> Figures:
    usage = "SELECT count(*) FROM tenants_usage"
    comes_true(stack, lambda: number(stack, usage) >= asking.asked, seconds=30)
    return {
        "jobs": asking.asked,
        "failures_seen": len(asking.failures),
        "lost": asking.asked - jobs_in(stack, "succeeded"),
        "stuck": open_jobs(stack),
        "charges_too_many": number(stack, usage) - asking.asked,
        "charges_missing": asking.asked - number(stack, usage),
        "extra_runs": len(stack.runs()) - asking.asked,
        "bad_exits": roll.bad_exits,
        "left_running": roll.left_running,
        "slowest_exit": roll.slowest,
        "seconds_beyond_soft_limit": max(0.0, roll.slowest - soft_limit),
    }


ROW = Row(
    name="R6",
    title="rolling restart by SIGTERM of every process, under load",
    play=play,
    short={"jobs": 20, "run": 0.3, "clients": 6, "each": 1},
    long={"jobs": 50, "run": 1.0, "clients": 12, "each": 2},
    limits={
        "failures_seen": 0,
        "lost": 0,
        "stuck": 0,
        "charges_too_many": 0,
        "charges_missing": 0,
        "extra_runs": 0,
        "bad_exits": 0,
        "left_running": 0,
        "forbidden_moves": 0,
    },
    long_limits={"seconds_beyond_soft_limit": 5},
)
