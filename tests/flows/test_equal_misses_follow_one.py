"""Of equal misses in one process one is queued; the others wait for it, then find it cached or share its error."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import StackMaker
from tests.faults.asking import crowd, rows
from tests.stack import Stack

pytestmark = pytest.mark.stack


@pytest.fixture
def running(make_stack: StackMaker) -> Stack:
    stack = make_stack(env={"COUNTING_SECONDS": "1.5"})
    stack.api()
    stack.engine_worker()
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    return stack


def test_twenty_at_once_leave_few_rows_and_hear_the_same(running: Stack) -> None:
    answers = crowd(running, [{"text": "All of us want this.", "wait": 60}] * 20)
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body["sha256"] for answer in answers}) == 1
    assert len(running.runs()) == 1
    ((jobs,),) = rows(running, "SELECT count(*) FROM synth_job")
    hits = sum(answer.body["cache"] == "hit" for answer in answers)
    # Some may have looked before the first had begun: they are queued and join, as other processes' do.
    assert jobs == 20 - hits < 10


def test_they_share_the_error(running: Stack) -> None:
    answers = crowd(running, [{"text": "Please fail-permanently.", "wait": 60}] * 10)
    assert {(answer.status, answer.body["code"]) for answer in answers} == {(422, "told_to_fail")}
    assert len(running.runs()) == 1


def test_they_go_on_when_the_one_they_follow_is_canceled(running: Stack) -> None:
    body = {"text": "Whoever is left wants this.", "wait": 60}
    with ThreadPoolExecutor(4) as pool, running.client() as client:
        first = pool.submit(client.post, "/v1/speech", json=body)
        with running.client() as other:
            jobs = running.wait_until(lambda: other.get("/v1/speech").json()["results"], what="the first job")
            followers = [pool.submit(lambda: crowd(running, [body])[0]) for _ in range(3)]
            assert other.delete(f"/v1/speech/{jobs[0]['id']}").json()["status"] == "canceled"
        assert first.result(60).json()["code"] == "canceled"
        assert [follower.result(60).status for follower in followers] == [200] * 3
