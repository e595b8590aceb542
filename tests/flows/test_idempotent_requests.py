"""`Idempotency-Key` over two API processes: many at once, other bodies with the key, and a process that is killed."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.conftest import StackMaker
from tests.faults.asking import crowd, number, runs_of
from tests.faults.dying_web import dying_api
from tests.stack import Child, Stack, answers

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def running(make_shared_stack: StackMaker) -> Stack:
    stack = make_shared_stack(env={"COUNTING_SECONDS": "0.3"})
    stack.api(2)
    stack.engine_worker()
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    return stack


@pytest.fixture(scope="module")
def doomed(running: Stack) -> Child:
    """An API process that dies once it has written a job."""
    return dying_api(running)


def jobs(stack: Stack) -> int:
    return number(stack, "SELECT count(*) FROM synth_job")


def ask(stack: Stack, body: dict[str, Any], *, key: str) -> httpx.Response:
    """With the very bytes that `crowd` sends."""
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    with stack.client() as client:
        return client.post("/v1/speech", content=json.dumps(body).encode(), headers=headers)


def pass_the_leases(stack: Stack) -> None:
    stack.seeded.ask("UPDATE synth_idempotentrequest SET lease_until = created_at WHERE status IS NULL")


@pytest.mark.parametrize("cache", ["use", "bypass"])
def test_of_fifty_equal_requests_one_is_carried_out(running: Stack, cache: str) -> None:
    before, text = jobs(running), f"Fifty ask for this with {cache}."
    body = {"text": text, "wait": 30, "cache": cache}
    answers = crowd(running, [body] * 50, apis=running.children[:2], key=f"fifty-{cache}")
    assert {answer.status for answer in answers} <= {200, 409}, answers
    sounds = {answer.sha256 for answer in answers if answer.status == 200}
    refused = {answer.body["code"] for answer in answers if answer.status == 409}
    assert (len(sounds), refused) == (1, {"idempotency_in_progress"})
    assert (jobs(running) - before, runs_of(running, text)) == (1, 1)
    again = ask(running, body, key=f"fifty-{cache}")
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
    assert again.json()["sha256"] in sounds
    with httpx.Client(trust_env=False) as anybody:
        assert len(anybody.get(again.json()["url"]).content) == again.json()["size"]


@pytest.mark.parametrize("wait", [0, 30])
def test_a_storm_of_other_bodies_with_one_key_is_one_job(running: Stack, wait: int) -> None:
    before = jobs(running)
    bodies = [{"text": f"Body {at} of the storm that waits {wait}.", "wait": wait} for at in range(50)]
    answers = crowd(running, bodies, apis=running.children[:2], key=f"storm-{wait}")
    done = [answer for answer in answers if answer.status in {200, 202}]
    assert {answer.status for answer in answers} <= {200, 202, 409, 422}, answers
    assert {answer.body["code"] for answer in answers if answer.status == 422} == {"idempotency_key_reused"}
    assert (len(done), jobs(running) - before) == (1, 1)


@pytest.mark.parametrize("cache", ["use", "bypass"])
def test_a_killed_process_leaves_work_that_the_next_try_answers_with(running: Stack, doomed: Child, cache: str) -> None:
    running.wait_until(lambda: answers(doomed), seconds=60, what="the API that dies")
    before, text = jobs(running), f"Its process dies with {cache}."
    body = {"text": text, "wait": 60, "cache": cache}
    (lost,) = crowd(running, [body], apis=[doomed], key=f"dies-{cache}")
    assert lost.status == 0
    early = ask(running, body, key=f"dies-{cache}")
    assert (early.status_code, early.json()["code"]) == (409, "idempotency_in_progress")
    assert int(early.headers["Retry-After"]) >= 1
    pass_the_leases(running)
    answer = ask(running, body, key=f"dies-{cache}")
    assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (200, False), answer.text
    assert answer.json()["id"].startswith("job_")
    assert ask(running, body, key=f"dies-{cache}").json()["sha256"] == answer.json()["sha256"]
    assert (jobs(running) - before, runs_of(running, text)) == (1, 1)
