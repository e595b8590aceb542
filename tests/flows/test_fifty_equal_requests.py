"""Fifty equal requests at one moment, over two API processes and two engine workers, are one piece of work."""

from __future__ import annotations

import pytest

from tests.conftest import StackMaker
from tests.faults.asking import crowd, double_results, number
from tests.stack import Stack

pytestmark = pytest.mark.stack

SHARED = "Both of them say this sentence."


@pytest.fixture(scope="module")
def running(make_shared_stack: StackMaker) -> Stack:
    stack = make_shared_stack(env={"COUNTING_SECONDS": "0.3"})
    stack.api(2)
    stack.engine_worker(2)
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    return stack


def rows_made(stack: Stack) -> tuple[int, int]:
    return number(stack, "SELECT count(*) FROM synth_rendering"), number(stack, "SELECT count(*) FROM synth_synthesis")


def test_one_synthesis_a_sentence_and_one_rendering(running: Stack) -> None:
    runs, (renderings, syntheses) = len(running.runs()), rows_made(running)
    answers = crowd(running, [{"text": "Hello there. How are you?", "wait": 60}] * 50)
    assert {answer.status for answer in answers} == {200}, [answer.body for answer in answers if answer.status != 200]
    assert len({answer.sha256 for answer in answers}) == 1
    assert sorted(run["text"] for run in running.runs()[runs:]) == ["Hello there.", "How are you?"]
    assert rows_made(running) == (renderings + 1, syntheses + 2)


def test_texts_that_share_a_sentence_say_it_once(running: Stack) -> None:
    def text(name: str) -> str:
        before = " ".join(f"Sentence {at} of {name}." for at in range(6))
        after = " ".join(f"Sentence {at} of {name}." for at in range(6, 12))
        return f"{before} {SHARED} {after}"

    before = len(running.runs())
    answers = crowd(running, [{"text": text(name), "wait": 60} for name in ("one", "two")] * 5)
    assert {answer.status for answer in answers} == {200}, [answer.body for answer in answers if answer.status != 200]
    assert len({answer.sha256 for answer in answers}) == 2
    runs = [run["text"] for run in running.runs()[before:]]
    assert (runs.count(SHARED), len(runs), double_results(running)) == (1, 25, 0)
