"""A new version of the model beside workers of the old one: no request of any process misses, and all is made anew."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

from tests.conftest import StackMaker
from tests.faults.asking import number
from tests.stack import Stack

pytestmark = pytest.mark.stack

TEXTS = [f"Known sentence number {at}." for at in range(16)]


def told(stack: Stack) -> list[tuple[str, str]]:
    """How each process answers each text at once, and by which entry."""
    found = []
    for child in stack.children:
        if child.port:
            with stack.client(child) as client:
                answers = [client.post("/v1/speech", json={"text": text, "wait": 0}).json() for text in TEXTS]
            found += [(str(answer.get("cache", "queued")), str(answer["id"])) for answer in answers]
    return found


def test_the_cache_stays_warm_also_when_a_worker_is_killed(make_stack: StackMaker) -> None:
    stack = make_stack(env={"COUNTING_SECONDS": "0.02", "REFRAIN_LEASE": "2", "REFRAIN_HEARTBEAT": "0.5"})
    stack.api(2)
    stack.engine_worker()
    (io,) = stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    with stack.client() as client:
        for text in TEXTS:
            client.post("/v1/speech", json={"text": text}).raise_for_status()
    old = dict.fromkeys(entry for _, entry in told(stack))
    assert len(old) == len(TEXTS)

    stack.engine_worker(env={"COUNTING_MODEL_VERSION": "counting-2"})
    seen: Counter[str] = Counter()

    def done(count: int) -> bool:
        answers = told(stack)
        seen.update(status for status, _ in answers)
        return number(stack, "SELECT coalesce(sum(done + cached), 0) FROM synth_curationaction") >= count

    stack.wait_until(lambda: done(3), seconds=90, what="the first lines")
    stack.kill(io, signal.SIGKILL)
    stack.io_worker()
    stack.wait_until(lambda: done(len(TEXTS)), seconds=150, what="all lines")
    assert set(seen) == {"hit", "stale"}
    answers = told(stack)
    assert {status for status, _ in answers} == {"hit"}
    assert not old.keys() & {entry for _, entry in answers}
    assert Counter(str(run["text"]) for run in stack.runs()) == dict.fromkeys(TEXTS, 2)
