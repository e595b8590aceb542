"""R5: a run that is longer than its lease, (a) with a heartbeat and (b) with a worker whose heartbeat is blocked."""

from __future__ import annotations

import signal

from tests.faults.asking import crowd, double_results, jobs_in, runs_of, wait_until_all_end
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.stack import Child, Stack

TEXT = "This sentence takes longer than its lease."
NEVER = "100000"


def play(make_stack: MakeStack, *, seed: int, lease: float, blocked_run: float) -> Figures:
    env = {"COUNTING_SECONDS": str(5 * lease), "REFRAIN_LEASE": str(lease), "REFRAIN_HEARTBEAT": str(lease / 4)}
    stack = make_stack(env=env)
    with stack.at_once():
        stack.api()
        stack.io_worker()
        stack.beat()
        (blocked,) = stack.engine_worker(env={"REFRAIN_HEARTBEAT": NEVER, "COUNTING_SECONDS": str(blocked_run)})
        others = stack.engine_worker(2)
    stack.wait_for_engines()
    figures = _blocked(stack, f"{TEXT[:-1]} in seed {seed}.", blocked, others, run=blocked_run)
    stack.terminate(blocked)
    return figures | _renewed(stack, f"{TEXT[:-1]}, seed {seed}.", run=5 * lease)


def _blocked(stack: Stack, text: str, blocked: Child, others: list[Child], *, run: float) -> Figures:
    """The first worker never renews; another one, frozen until the first has begun, takes the lapsed lease."""
    for other in others:
        stack.kill(other, signal.SIGSTOP)
    crowd(stack, [{"text": text, "wait": 0}])
    stack.wait_until(stack.runs, seconds=60, what="the run of the worker whose heartbeat is blocked")
    for other in others:
        stack.kill(other, signal.SIGCONT)
    wait_until_all_end(stack, 1, seconds=3 * run + 60)
    stack.wait_until(
        lambda: "came too late" in blocked.output() or runs_of(stack, text) == 1, seconds=run + 60, what="a late result"
    )
    return {
        "blocked_not_done": 1 - jobs_in(stack, "succeeded"),
        "blocked_runs": runs_of(stack, text),
        "blocked_double_results": double_results(stack),
    }


def _renewed(stack: Stack, text: str, *, run: float) -> Figures:
    """A run of five leases, and a second worker that would take it."""
    crowd(stack, [{"text": text, "wait": 0}])
    wait_until_all_end(stack, 2, seconds=run + 60)
    return {
        "renewed_not_done": 2 - jobs_in(stack, "succeeded"),
        "renewed_extra_runs": runs_of(stack, text) - 1,
        "renewed_double_results": double_results(stack),
    }


ROW = Row(
    name="R5",
    title="run longer than its lease: (a) renewed, (b) renewal blocked",
    play=play,
    short={"lease": 1.0, "blocked_run": 10.0},
    long={"lease": 5.0, "blocked_run": 25.0},
    limits={
        "renewed_not_done": 0,
        "renewed_extra_runs": 0,
        "renewed_double_results": 0,
        "blocked_not_done": 0,
        "blocked_runs": 2,
        "blocked_double_results": 0,
    },
)
