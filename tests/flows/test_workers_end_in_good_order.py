"""SIGTERM lets a worker finish what it has in hand and nothing more; others take over the rest."""

from __future__ import annotations

import pytest

from tests.faults.asking import crowd, jobs_in, rows, wait_until_all_end
from tests.stack import Stack

pytestmark = pytest.mark.stack

SENTENCES = 8


@pytest.fixture
def running(make_stack) -> Stack:
    stack = make_stack(env={"COUNTING_SECONDS": "0.7"})
    stack.api()
    stack.beat()
    return stack


def test_an_engine_worker_finishes_its_sentence_and_another_one_takes_the_rest(running: Stack) -> None:
    io = running.io_worker()
    (first,) = running.engine_worker()
    running.wait_for_engines()
    crowd(running, [{"text": " ".join(f"Sentence number {at}." for at in range(SENTENCES)), "wait": 0}])
    running.wait_until(lambda: len(running.runs()) >= 2, seconds=30, what="the second sentence")
    assert running.terminate(first, seconds=60) == 0
    started = len(running.runs())
    states = [state for (state,) in rows(running, "SELECT state FROM synth_synthesis ORDER BY state")]
    assert states == ["queued"] * (SENTENCES - started) + ["succeeded"] * started
    assert started < SENTENCES

    running.engine_worker()
    wait_until_all_end(running, 1, seconds=60)
    assert (jobs_in(running, "succeeded"), len(running.runs())) == (1, SENTENCES)

    assert running.terminate(io[0], seconds=60) == 0
    crowd(running, [{"text": "Sentence number 0.", "wait": 0}])
    assert rows(running, "SELECT state FROM synth_rendering WHERE state <> 'succeeded'") == [("queued",)]
    running.io_worker()
    wait_until_all_end(running, 2, seconds=60)
    assert jobs_in(running, "succeeded") == 2
