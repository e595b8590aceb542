"""Of equal misses in one process one is queued; the others wait for it, then find it cached or share its error."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tests.conftest import StackMaker
from tests.faults.asking import crowd, number, runs_of
from tests.stack import Stack

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def running(make_shared_stack: StackMaker) -> Stack:
    stack = make_shared_stack(env={"COUNTING_SECONDS": "1.5"})
    stack.api()
    stack.engine_worker()
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    return stack


def test_twenty_at_once_leave_few_rows_and_hear_the_same(running: Stack) -> None:
    text, every_job = "All of us want this.", "SELECT count(*) FROM synth_job"
    before = number(running, every_job)
    answers = crowd(running, [{"text": text, "wait": 60}] * 20)
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body["sha256"] for answer in answers}) == 1
    assert runs_of(running, text) == 1
    jobs = number(running, every_job) - before
    hits = sum(answer.body["cache"] == "hit" for answer in answers)
    # Some may have looked before the first had begun: they are queued and join, as other processes' do.
    assert jobs == 20 - hits < 10


def test_they_share_the_error(running: Stack) -> None:
    text = "Please fail-permanently."
    answers = crowd(running, [{"text": text, "wait": 60}] * 10)
    assert {(answer.status, answer.body["code"]) for answer in answers} == {(422, "told_to_fail")}
    assert runs_of(running, text) == 1


def test_they_go_on_when_the_one_they_follow_is_canceled(running: Stack) -> None:
    body = {"text": "Whoever is left wants this.", "wait": 60, "category": "left"}
    with ThreadPoolExecutor(4) as pool, running.client() as client:
        first = pool.submit(client.post, "/v1/speech", json=body)
        with running.client() as other:
            mine = partial(other.get, "/v1/speech", params={"category": "left"})
            jobs = running.wait_until(lambda: mine().json()["results"], what="the first job")
            followers = [pool.submit(lambda: crowd(running, [body])[0]) for _ in range(3)]
            assert other.delete(f"/v1/speech/{jobs[0]['id']}").json()["status"] == "canceled"
        assert first.result(60).json()["code"] == "canceled"
        assert [follower.result(60).status for follower in followers] == [200] * 3
