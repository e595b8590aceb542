"""R5: a run that is longer than its lease, (a) with a heartbeat and (b) with a worker whose heartbeat is blocked."""

from __future__ import annotations

from collections.abc import Mapping

from tests.faults.asking import crowd, double_results, jobs_in, runs_of, wait_until_all_end
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.stack import Stack

TEXT = "This sentence takes longer than its lease."
NEVER = "100000"


def play(make_stack: MakeStack, *, seed: int, lease: float, blocked_run: float) -> Figures:
    blocked = _blocked(make_stack, seed, lease=lease, run=blocked_run)
    return {**_renewed(make_stack, seed, lease=lease), **blocked}


def _stack(
    make_stack: MakeStack, *, lease: float, run: float, workers: int, of_workers: Mapping[str, str] | None = None
) -> Stack:
    stack = make_stack(
        env={"COUNTING_SECONDS": str(run), "REFRAIN_LEASE": str(lease), "REFRAIN_HEARTBEAT": str(lease / 4)}
    )
    with stack.at_once():
        stack.api()
        stack.io_worker()
        stack.beat()
        stack.engine_worker(workers, env=of_workers)
    stack.wait_for_engines()
    return stack


def _renewed(make_stack: MakeStack, seed: int, *, lease: float) -> Figures:
    """A run of five leases, and a second worker that would take it."""
    stack = _stack(make_stack, lease=lease, run=5 * lease, workers=2)
    text = f"{TEXT[:-1]}, seed {seed}."
    crowd(stack, [{"text": text, "wait": 0}])
    wait_until_all_end(stack, 1, seconds=5 * lease + 60)
    return {
        "renewed_not_done": 1 - jobs_in(stack, "succeeded"),
        "renewed_extra_runs": len(stack.runs()) - 1,
        "renewed_double_results": double_results(stack),
    }


def _blocked(make_stack: MakeStack, seed: int, *, lease: float, run: float) -> Figures:
    """The first worker never renews; a second one, started once the first has begun, takes the lapsed lease."""
    stack = _stack(make_stack, lease=lease, run=run, workers=1, of_workers={"REFRAIN_HEARTBEAT": NEVER})
    blocked = stack.children[-1]
    text = f"{TEXT[:-1]} in seed {seed}."
    crowd(stack, [{"text": text, "wait": 0}])
    stack.wait_until(stack.runs, seconds=60, what="the run of the worker whose heartbeat is blocked")
    stack.engine_worker(env={"COUNTING_SECONDS": str(lease / 2)})
    wait_until_all_end(stack, 1, seconds=3 * run + 60)
    stack.wait_until(
        lambda: "came too late" in blocked.output() or runs_of(stack, text) == 1, seconds=run + 60, what="a late result"
    )
    return {
        "blocked_not_done": 1 - jobs_in(stack, "succeeded"),
        "blocked_runs": runs_of(stack, text),
        "blocked_double_results": double_results(stack),
    }


ROW = Row(
    name="R5",
    title="run longer than its lease: (a) renewed, (b) renewal blocked",
    play=play,
    short={"lease": 1.0, "blocked_run": 12.0},
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
