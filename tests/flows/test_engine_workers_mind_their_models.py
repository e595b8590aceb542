"""Real workers: models are loaded in the child alone, dropped when idle; a child that grew too large is replaced."""

from __future__ import annotations

import pytest

from tests.engines import counting
from tests.engines.pieces import HANG_BETWEEN
from tests.faults.asking import crowd, jobs_in, rows, runs_of, wait_until_all_end
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.any_database]


def pids(stack: Stack, event: str) -> list[int]:
    """The processes that did this, in order."""
    return [line["pid"] for line in counting.lines(stack.runs_log) if line["event"] == event]


def speaking(stack: Stack) -> Stack:
    stack.api()
    stack.io_worker()
    stack.beat()
    return stack


def test_an_engine_that_hangs_between_two_pieces_ends_at_the_deadline(make_stack) -> None:
    limits = {"REFRAIN_DEADLINE": "1", "REFRAIN_DEADLINE_FACTOR": "0"}
    beats = {"REFRAIN_LEASE": "1", "REFRAIN_HEARTBEAT": "0.3"}
    stack = speaking(make_stack(engines=("pieces",), env={**limits, **beats}))
    (worker,) = stack.engine_worker()
    stack.wait_for_engines()
    hung = f"Please {HANG_BETWEEN} two pieces."
    crowd(stack, [{"text": hung, "wait": 0}])
    wait_until_all_end(stack, 1, seconds=90)
    assert rows(stack, "SELECT state, error_code FROM synth_job") == [("failed", "worker_lost")]
    assert (runs_of(stack, hung), worker.alive) == (3, True)
    (after,) = crowd(stack, [{"text": "This one does not hang.", "wait": 60}])
    assert after.status == 200
    # Neither engine nor model ever touched the parent, which outlived three of its children.
    assert worker.pid not in pids(stack, "import") + pids(stack, "load")
    assert len(set(pids(stack, "load"))) == 4


def test_a_model_is_dropped_when_idle_and_loaded_again_for_work(make_stack) -> None:
    stack = speaking(make_stack(engines=("pieces",), env={"REFRAIN_ENGINE_UNLOAD_AFTER": "1"}))
    stack.engine_worker()
    stack.wait_for_engines()
    (first,) = crowd(stack, [{"text": "The first sentence.", "wait": 60}])
    stack.wait_until(lambda: pids(stack, "unload"), seconds=60, what="the model is dropped")
    told = "SELECT loaded, device, device_memory FROM synth_engineworker"
    stack.wait_until(lambda: rows(stack, told) == [(False, "tape 0", 0)], seconds=60, what="and that is told")
    assert rows(stack, "SELECT current, problem FROM synth_enginecardrow") == [(True, "")]

    (second,) = crowd(stack, [{"text": "The second sentence.", "wait": 60}])
    assert (first.status, second.status) == (200, 200)
    assert rows(stack, "SELECT DISTINCT attempt FROM synth_synthesis") == [(1,)]
    loads = pids(stack, "load")
    assert (len(loads), len(set(loads))) == (2, 1)


def test_a_child_beyond_its_memory_is_replaced_and_nothing_is_lost(make_stack) -> None:
    stack = speaking(make_stack(engines=("pieces",), env={"REFRAIN_WORKER_MAX_MEMORY": "1000000"}))
    (worker,) = stack.engine_worker()
    stack.wait_for_engines()
    texts = [f"Sentence number {number}." for number in range(4)]
    answers = crowd(stack, [{"text": text, "wait": 60} for text in texts])
    assert [answer.status for answer in answers] == [200] * 4
    assert (jobs_in(stack, "succeeded"), worker.alive) == (4, True)
    assert rows(stack, "SELECT DISTINCT attempt FROM synth_synthesis") == [(1,)]
    assert len(set(pids(stack, "start"))) > 1
    # What a child noted is written at its end, and its row goes with it.
    noted = "SELECT sum(runs) FROM synth_engineday"
    stack.terminate(worker, seconds=60)
    assert rows(stack, noted) == [(4,)]
    assert rows(stack, "SELECT count(*) FROM synth_engineworker") == [(0,)]
