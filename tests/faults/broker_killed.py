"""R2: the broker's Redis is killed with kill -9 under load and started again, and once loses everything it holds."""

from __future__ import annotations

import random
import threading
import time

from tests.faults.asking import comes_true, crowd, double_results, jobs_in, open_jobs, seconds_until, wait_until_all_end
from tests.faults.ground import cache_of_its_own, dead, started
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.servers.redis import RedisServer
from tests.stack import Stack

ENGINE_WORKERS = 2
WORKERS = ENGINE_WORKERS + 1
PATIENCE = 120.0


def play(make_stack: MakeStack, *, seed: int, kills: int, jobs: int, queued: int, away: float, run: float) -> Figures:
    with cache_of_its_own() as cache:
        env = {"REDIS_URL": cache.url, "COUNTING_SECONDS": str(run)}
        scene = Scene(started(make_stack, env, engine_workers=ENGINE_WORKERS), random.Random(seed))
        names = [f"kill {at} of seed {seed}" for at in range(kills)]
        backs = [scene.kill(name, jobs=jobs, away=away, idle=at % 2 == 1) for at, name in enumerate(names)]
        flushed = scene.flush(f"the flush of seed {seed}", jobs=queued)
        return {
            "kills": kills,
            "jobs": scene.asked,
            "queued_at_the_flush": flushed,
            "not_accepted": scene.refused,
            "lost": scene.asked - jobs_in(scene.stack, "succeeded"),
            "stuck": open_jobs(scene.stack),
            "double_results": double_results(scene.stack),
            "extra_runs": len(scene.stack.runs()) - scene.asked,
            "deaf_workers": scene.deaf,
            "dead_processes": dead(scene.stack),
            "seconds_until_consumption": max(backs),
            "seconds_until_all_ended": scene.longest,
        }


class Scene:
    """One fault after another on the same stack, whose own Redis is the broker."""

    def __init__(self, stack: Stack, dice: random.Random) -> None:
        self.stack = stack
        self._dice = dice
        self.asked = self.refused = self.deaf = 0
        self.longest = 0.0

    def kill(self, name: str, *, jobs: int, away: float, idle: bool) -> float:
        """At a random moment of the work, or once there is none; the seconds from the start until a worker spoke again.

        When there is none, no worker comes across what is asked meanwhile before it hears a bell again.
        """
        self._ask(f"before {name}", jobs)
        threading.Event().wait(self._dice.uniform(0, away))
        if idle:
            wait_until_all_end(self.stack, self.asked, seconds=PATIENCE)
        self.stack.redis.kill()
        texts = self._ask(f"during {name}", jobs)
        threading.Event().wait(away)
        self.stack.redis.start()
        began = time.monotonic()
        back = _seconds_until_spoken(self.stack, texts)
        self._settle(began)
        return back

    def flush(self, name: str, *, jobs: int) -> int:
        """How much was still to do when the broker lost every message."""
        self._ask(f"at {name}", jobs)
        with self.stack.redis.client() as redis:
            redis.flushall()
        left = open_jobs(self.stack)
        self._settle(time.monotonic())
        return left

    def _ask(self, name: str, jobs: int) -> list[str]:
        texts = [f"Job {at} {name}." for at in range(jobs)]
        answers = crowd(self.stack, [{"text": text, "wait": 0} for text in texts])
        self.asked += jobs
        self.refused += sum(answer.status != 202 for answer in answers)
        return texts

    def _settle(self, began: float) -> None:
        wait_until_all_end(self.stack, self.asked, seconds=PATIENCE)
        self.longest = max(self.longest, time.monotonic() - began)
        self.deaf = max(self.deaf, _deaf(self.stack, self.stack.redis))


def _seconds_until_spoken(stack: Stack, texts: list[str]) -> float:
    spoken = set(texts)
    return seconds_until(stack, lambda: any(run["text"] in spoken for run in stack.runs()), most=PATIENCE)


def _deaf(stack: Stack, broker: RedisServer) -> int:
    """Workers that do not wait for a bell, though they have nothing to do."""
    with broker.client() as redis:

        def deaf() -> int:
            return WORKERS - sum(client["cmd"] == "brpop" for client in redis.client_list())

        comes_true(stack, lambda: deaf() <= 0, seconds=PATIENCE)
        return max(0, deaf())


ROW = Row(
    name="R2",
    title="the broker's Redis killed -9 and started again under load, and once emptied",
    play=play,
    short={"kills": 2, "jobs": 12, "queued": 30, "away": 1.0, "run": 0.1},
    long={"kills": 10, "jobs": 40, "queued": 100, "away": 5.0, "run": 0.2},
    limits={
        "not_accepted": 0,
        "lost": 0,
        "stuck": 0,
        "double_results": 0,
        "extra_runs": 0,
        "deaf_workers": 0,
        "dead_processes": 0,
    },
    long_limits={"seconds_until_consumption": 30, "seconds_until_all_ended": 120},
)
