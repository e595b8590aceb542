"""Fifty equal requests at one moment, over two API processes and two engine workers, are one piece of work."""

from __future__ import annotations

import pytest

from tests.faults.asking import crowd, double_results, number, runs_of
from tests.stack import Stack

pytestmark = pytest.mark.stack

SHARED = "Both of them say this sentence."


@pytest.fixture
def running(make_stack) -> Stack:
    stack = make_stack(env={"COUNTING_SECONDS": "0.3"})
    stack.api(2)
    stack.engine_worker(2)
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    return stack


def test_one_synthesis_a_sentence_and_one_rendering(running: Stack) -> None:
    answers = crowd(running, [{"text": "Hello there. How are you?", "wait": 60}] * 50)
    assert {answer.status for answer in answers} == {200}, [answer.body for answer in answers if answer.status != 200]
    assert len({answer.sha256 for answer in answers}) == 1
    assert sorted(run["text"] for run in running.runs()) == ["Hello there.", "How are you?"]
    assert number(running, "SELECT count(*) FROM synth_rendering") == 1
    assert number(running, "SELECT count(*) FROM synth_synthesis") == 2


def test_texts_that_share_a_sentence_say_it_once(running: Stack) -> None:
    def text(name: str) -> str:
        before = " ".join(f"Sentence {at} of {name}." for at in range(6))
        after = " ".join(f"Sentence {at} of {name}." for at in range(6, 12))
        return f"{before} {SHARED} {after}"

    answers = crowd(running, [{"text": text(name), "wait": 60} for name in ("one", "two")] * 5)
    assert {answer.status for answer in answers} == {200}, [answer.body for answer in answers if answer.status != 200]
    assert len({answer.sha256 for answer in answers}) == 2
    assert runs_of(running, SHARED) == 1
    assert (len(running.runs()), double_results(running)) == (25, 0)
