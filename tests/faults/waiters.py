"""S2: many wait for one run, whose (a) holder is killed, which (b) fails for good, which (c) fails for now."""

from __future__ import annotations

import os
import signal
import threading
import time

from tests.engines.counting import FAIL_PERMANENTLY, FAIL_TRANSIENTLY
from tests.faults.asking import Answer, crowd, runs_of
from tests.faults.ground import started
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.stack import Stack

# Failures that would repeat are remembered for 5 s; this waits for that time itself, not for something to be done.
NEGATIVE_SECONDS = 5.5


def play(make_stack: MakeStack, *, seed: int, waiters: int, apis: int, run: float, lease: float) -> Figures:
    env = {
        "COUNTING_SECONDS": str(run),
        "REFRAIN_LEASE": str(lease),
        "REFRAIN_HEARTBEAT": str(lease / 3),
        "REFRAIN_MAX_WAITERS": str(waiters),
    }
    stack = started(make_stack, env, apis=apis)
    doomed = f"Please {FAIL_PERMANENTLY} at seed {seed}."
    killed = _holder_killed(stack, f"The holder dies, seed {seed}.", waiters, most=lease + run + 5)
    failed = _fails_for_good(stack, doomed, waiters)
    remembered_until = time.monotonic() + NEGATIVE_SECONDS
    failed |= _fails_for_now(stack, f"Please {FAIL_TRANSIENTLY} at seed {seed}.", waiters)
    threading.Event().wait(max(0.0, remembered_until - time.monotonic()))
    return {**killed, **failed, "b_not_tried_again_later": 1 - _runs_of_another_try(stack, doomed)}


def _holder_killed(stack: Stack, text: str, waiters: int, *, most: float) -> Figures:
    killer = threading.Thread(target=_kill_holder, args=(stack, text), daemon=True)
    killer.start()
    answers = crowd(stack, [{"text": text, "wait": 60}] * waiters)
    killer.join(60)
    return {
        "a_runs": runs_of(stack, text),
        "a_not_ok": sum(answer.status != 200 for answer in answers),
        "a_different_sounds": len({answer.sha256 for answer in answers}) - 1,
        "a_slowest_beyond_allowed": max(answer.seconds for answer in answers) - most,
    }


def _kill_holder(stack: Stack, text: str) -> None:
    stack.wait_until(lambda: runs_of(stack, text), seconds=60, what="the first run")
    (holder,) = (run["pid"] for run in stack.runs() if run["text"] == text)
    os.killpg(os.getpgid(int(str(holder))), signal.SIGKILL)


def _fails_for_good(stack: Stack, text: str, waiters: int) -> Figures:
    answers = crowd(stack, [{"text": text, "wait": 60}] * waiters)
    return {
        "b_runs": runs_of(stack, text),
        "b_unlike_errors": sum(not _is_error(answer, 422, "told_to_fail") for answer in answers),
    }


def _fails_for_now(stack: Stack, text: str, waiters: int) -> Figures:
    answers = crowd(stack, [{"text": text, "wait": 60}] * waiters)
    return {
        "c_runs": runs_of(stack, text),
        "c_unlike_errors": sum(not _is_error(answer, 503, "told_to_fail_for_now") for answer in answers),
        "c_was_cached": int(_runs_of_another_try(stack, text) == 0),
    }


def _runs_of_another_try(stack: Stack, text: str) -> int:
    before = runs_of(stack, text)
    crowd(stack, [{"text": text, "wait": 60}])
    return runs_of(stack, text) - before


def _is_error(answer: Answer, status: int, code: str) -> bool:
    return (answer.status, answer.body.get("code")) == (status, code)


ROW = Row(
    name="S2",
    title="waiters whose run (a) loses its worker, (b) fails for good, (c) fails for now",
    play=play,
    short={"waiters": 30, "apis": 2, "run": 1.0, "lease": 2.0},
    long={"waiters": 100, "apis": 2, "run": 2.0, "lease": 5.0},
    limits={
        "a_runs": 2,
        "a_not_ok": 0,
        "a_different_sounds": 0,
        "b_runs": 1,
        "b_unlike_errors": 0,
        "b_not_tried_again_later": 0,
        "c_runs": 3,
        "c_unlike_errors": 0,
        "c_was_cached": 0,
    },
    long_limits={"a_slowest_beyond_allowed": 0},
)
