"""A Redis that answers but refuses to write: a replica, or one that is full. Requests go on; it is told of once."""

import time
from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from synth import wiring
from synth.queue.wakeup import announce
from tests.finished import Finished
from tests.servers.ports import free_port
from tests.servers.redis import RedisServer

pytestmark = pytest.mark.any_database
PAUSE = 0.05
PATIENCE = 60.0
NAME = "the refusing Redis"


@pytest.fixture
def redis(redis_server: RedisServer) -> Iterator[Redis]:
    with redis_server.client() as client:
        yield client
        client.replicaof("NO", "ONE")
        client.config_set("maxmemory", "256mb")
        client.config_set("maxmemory-policy", "volatile-lfu")


@pytest.fixture
def warm(ask, finished: Finished) -> Finished:
    until(lambda: ask().json()["cache"] == "hit")
    wiring.redis_breaker()._pause = PAUSE
    # Breakers of tests before, whose Redis never came back, may still be probing: theirs is not counted here.
    wiring.redis_breaker()._name = NAME
    return finished


def be_replica(redis: Redis) -> None:
    redis.replicaof("127.0.0.1", free_port())


def be_master(redis: Redis) -> None:
    redis.replicaof("NO", "ONE")


def be_full(redis: Redis) -> None:
    redis.config_set("maxmemory-policy", "noeviction")
    redis.config_set("maxmemory", "1")


def have_room(redis: Redis) -> None:
    redis.config_set("maxmemory", "256mb")


REFUSALS = {"replica": (be_replica, be_master), "full": (be_full, have_room)}


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline


def lines(caplog: pytest.LogCaptureFixture, words: str) -> int:
    return sum(words in record.getMessage() for record in caplog.records if record.name == "synth.breaker")


@pytest.mark.parametrize("refusal", REFUSALS)
def test_requests_go_on_and_it_is_told_of_once(ask, warm: Finished, redis: Redis, caplog, refusal: str):
    refuse, accept = REFUSALS[refusal]
    refuse(redis)
    until(lambda: ask().json()["cache"] != "hit")
    ends_at = time.monotonic() + 20 * PAUSE
    answers = [ask(delivery="url"), ask(delivery="inline"), ask(delivery="binary"), ask(cache="bypass")]
    while time.monotonic() < ends_at:
        answers += [ask(), ask(text="Never said before."), ask(cache="bypass")]
    assert {answer.status_code for answer in answers} == {200, 202}
    assert lines(caplog, f"{NAME} is away") == 1

    accept(redis)
    until(lambda: ask().json()["cache"] == "hit" and lines(caplog, f"{NAME} is back") == 1)
    assert lines(caplog, f"{NAME} is away") == 1


@pytest.mark.parametrize("refusal", REFUSALS)
def test_workers_go_on_ringing_and_telling(warm: Finished, redis: Redis, refusal: str):
    REFUSALS[refusal][0](redis)
    wiring.doorbell().ring_io()
    wiring.doorbell().answered("io")
    announce(wiring.redis_unless_away, [warm.job.rendering_id])
