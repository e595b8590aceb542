"""`kill -9` of the workers in the midst of a warming: every line is made, and none twice."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

from tests.conftest import StackMaker
from tests.faults.asking import double_results, number

pytestmark = pytest.mark.stack

LINES = [f"Warm line number {at}." for at in range(60)]


def test_no_line_is_lost_or_made_twice(make_stack: StackMaker) -> None:
    stack = make_stack(env={"COUNTING_SECONDS": "0.02", "REFRAIN_LEASE": "2", "REFRAIN_HEARTBEAT": "0.5"})
    stack.api()
    stack.engine_worker()
    (io,) = stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    with stack.client() as client:
        action = client.post("/v1/cache/warmings", json={"lines": [{"text": text} for text in LINES]}).json()

        def told() -> dict[str, object]:
            answer: dict[str, object] = client.get(action["href"]).json()
            return answer

        for part in (5, 25):
            stack.wait_until(lambda part=part: int(told()["done"]) >= part, seconds=90, what=f"{part} lines")
            stack.kill(io, signal.SIGKILL)
            (io,) = stack.io_worker()
        stack.wait_until(lambda: told()["status"] == "succeeded", seconds=150, what="the end")
        assert [told()[name] for name in ("done", "cached", "failed")] == [60, 0, 0]
    assert Counter(str(run["text"]) for run in stack.runs()) == dict.fromkeys(LINES, 1)
    assert number(stack, "SELECT count(*) FROM synth_job") == 60
    assert double_results(stack) == 0
