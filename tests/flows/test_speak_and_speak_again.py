"""One request through every process, and the same request again out of the cache."""

import pytest

from tests.stack import Stack

pytestmark = pytest.mark.stack


@pytest.fixture
def running(stack: Stack) -> Stack:
    stack.api()
    stack.engine_worker()
    stack.io_worker()
    stack.wait_for_engines()
    return stack


def test_second_request_is_answered_from_the_cache_without_a_run(running: Stack) -> None:
    with running.client() as client:
        first = client.post("/v1/speech", json={"text": "Hello there. How are you?"})
        second = client.post("/v1/speech", json={"text": "  Hello there.  How are you? ", "speed": 1})
    assert (first.status_code, second.status_code) == (200, 200), (first.text, second.text)
    assert (first.json()["cache"], second.json()["cache"]) == ("miss", "hit")
    assert first.json()["sha256"] == second.json()["sha256"]
    assert sorted(run["text"] for run in running.runs()) == ["Hello there.", "How are you?"]
