"""R1: engine workers are killed with kill -9 at random moments, again and again, under a queue of work."""

from __future__ import annotations

import random
import threading
import time

from tests.faults.asking import crowd, double_results, jobs_in, open_jobs, runs_of, wait_until_all_end
from tests.faults.ground import started
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.stack import Child, Stack


def play(
    make_stack: MakeStack, *, seed: int, jobs: int, kills: int, every: float, run: float, lease: float, workers: int
) -> Figures:
    env = {"COUNTING_SECONDS": str(run), "REFRAIN_LEASE": str(lease), "REFRAIN_HEARTBEAT": str(lease / 3)}
    stack = started(make_stack, env, engine_workers=workers)
    alive = [child for child in stack.children if child.kind == "engine"]
    texts = [f"Job number {number} of seed {seed}." for number in range(jobs)]
    for start in range(0, jobs, 40):
        crowd(stack, [{"text": text, "wait": 0} for text in texts[start : start + 40]])
    killed = _kill_again_and_again(stack, alive, kills=kills, every=every, dice=random.Random(seed))
    last_kill = time.monotonic()
    wait_until_all_end(stack, jobs, seconds=lease + 120)
    return {
        "jobs": jobs,
        "kills": killed,
        "lost": jobs - jobs_in(stack, "succeeded"),
        "stuck": open_jobs(stack),
        "extra_runs_beyond_kills": max(0, len(stack.runs()) - jobs - killed),
        "most_runs_of_one": max(runs_of(stack, text) for text in texts),
        "double_results": double_results(stack),
        "seconds_to_end_beyond_lease": max(0.0, time.monotonic() - last_kill - lease),
    }


def _kill_again_and_again(stack: Stack, alive: list[Child], *, kills: int, every: float, dice: random.Random) -> int:
    """Kill one worker with all its processes at a random moment of each period, and start another one."""
    killed = 0
    for _ in range(kills):
        threading.Event().wait(every * dice.uniform(0.5, 1.5))
        if not open_jobs(stack):
            break
        victim = alive.pop(dice.randrange(len(alive)))
        stack.kill(victim)
        killed += 1
        alive.extend(stack.engine_worker())
    return killed


ROW = Row(
    name="R1",
    title="worker kill -9 mid-run, at random phases",
    play=play,
    short={"jobs": 24, "kills": 2, "every": 1.5, "run": 0.4, "lease": 2.0, "workers": 2},
    long={"jobs": 200, "kills": 8, "every": 3.0, "run": 0.4, "lease": 5.0, "workers": 2},
    limits={"lost": 0, "stuck": 0, "extra_runs_beyond_kills": 0, "double_results": 0},
    long_limits={"seconds_to_end_beyond_lease": 60},
)
