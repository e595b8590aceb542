"""Two API processes with warm memories: a purge by one is seen by both at once, whatever Redis went through."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import StackMaker
from tests.stack import Stack

pytestmark = pytest.mark.stack

TEXTS = [f"Two processes know sentence {number}." for number in range(5)]


class Doors:
    """Both API processes, asked for one text."""

    def __init__(self, stack: Stack, text: str) -> None:
        self.stack = stack
        self.text = text
        self.clients = [stack.client(child) for child in stack.children if child.port]

    def how(self, **body: object) -> list[str]:
        """What each answers: hit, restored or miss."""
        answers = [self._ask(client, **body) for client in self.clients]
        return [answer.json()["cache"] if answer.status_code == 200 else "miss" for answer in answers]

    def speak(self) -> dict[str, object]:
        """Until both answer with audio that they have in their own memory; the last answer."""
        answer = self._ask(self.clients[0], wait=60)
        assert answer.status_code == 200, answer.text
        for _ in range(3):
            assert "miss" not in self.how(delivery="inline")
        told: dict[str, object] = self._ask(self.clients[0]).json()
        return told

    def purge(self, entry_id: object) -> None:
        answer = self.clients[0].post("/v1/cache/purges", json={"entry_ids": [entry_id]})
        assert (answer.status_code, answer.json()["done"]) == (200, 1), answer.text

    def _ask(self, client: httpx.Client, **body: object) -> httpx.Response:
        return client.post("/v1/speech", json={"text": self.text, "wait": 0, **body})


@pytest.fixture(scope="module")
def texts(make_shared_stack: StackMaker) -> Iterator[Doors]:
    """Each test takes one, which is spoken already. Nobody can make it again: what is gone stays gone."""
    stack = make_shared_stack()
    stack.api(2)
    (engine,) = stack.engine_worker()
    (io,) = stack.io_worker()
    stack.wait_for_engines()
    every = [Doors(stack, text) for text in TEXTS]
    for doors in every:
        doors.speak()
    stack.kill(engine)
    stack.kill(io)
    return iter(every)


@pytest.fixture
def doors(texts: Iterator[Doors]) -> Doors:
    made = next(texts)
    made.stack.redis.start()
    made.told = made.speak()
    return made


@pytest.mark.parametrize("delivery", ["url", "inline"])
def test_at_the_next_request(doors: Doors, delivery: str) -> None:
    doors.purge(doors.told["id"])
    assert doors.how(delivery=delivery) == ["miss", "miss"]


def test_with_redis_away_at_that_moment_and_back_later(doors: Doors) -> None:
    doors.stack.redis.stop()
    doors.purge(doors.told["id"])
    assert doors.how() == ["miss", "miss"]
    doors.stack.redis.start()  # with all that it had
    for _ in range(5):
        assert doors.how(delivery="inline") == ["miss", "miss"]


def test_by_the_process_that_did_not_notice_redis_away(doors: Doors) -> None:
    doors.stack.redis.stop()
    doors.purge(doors.told["id"])
    doors.stack.redis.start()
    assert doors.how()[1] == "miss"


def test_after_redis_was_replaced_by_an_older_copy_of_itself(doors: Doors) -> None:
    """As a replica that lagged behind, or a restored backup, would be: it still holds the sound."""
    redis = doors.stack.redis
    copy = redis._directory.with_name("older-copy")
    redis.stop()
    shutil.copytree(redis._directory, copy)
    redis.start()
    assert "miss" not in doors.how()
    doors.purge(doors.told["id"])
    assert doors.how() == ["miss", "miss"]
    redis.kill()
    shutil.rmtree(redis._directory)
    shutil.copytree(copy, redis._directory)
    redis.start()
    with redis.client() as client:
        assert list(client.scan_iter(match="*:entry:*"))
    for _ in range(3):
        assert doors.how(delivery="inline") == ["miss", "miss"]
    assert httpx.get(str(doors.told["url"]), trust_env=False).status_code == 200
