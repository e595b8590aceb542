"""A request whose job is canceled by another one is told so at once, and does not wait its time out."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.stack import Stack

pytestmark = pytest.mark.stack


def test_the_waiting_request_is_told_that_its_job_was_canceled(stack: Stack) -> None:
    stack.api()
    (worker,) = stack.engine_worker()
    stack.wait_for_engines()
    stack.kill(worker)  # the card stays, so that requests are taken, but nobody speaks
    with ThreadPoolExecutor(1) as pool, stack.client() as client, stack.client() as other:
        waiting = pool.submit(client.post, "/v1/speech", json={"text": "Wait for me.", "wait": 60})
        jobs = stack.wait_until(lambda: other.get("/v1/speech").json()["results"], what="the job")
        assert other.delete(f"/v1/speech/{jobs[0]['id']}").json()["status"] == "canceled"
        answer = waiting.result(30)
    assert (answer.status_code, answer.json()["code"]) == (409, "canceled")
    assert answer.json()["job_id"] == jobs[0]["id"]
