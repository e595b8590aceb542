"""Bells: many rings are one message, and a broker that is away costs a request little and loses nothing."""

from __future__ import annotations

import time
from functools import partial

import pytest
from redis import Redis

from synth import wiring
from synth.breaker import Breaker
from synth.models import Job
from synth.queue.doorbell import BELL_TTL_MS, IO_QUEUE, Doorbell, engine_queue
from synth.service.sweeping import sweep
from tests.synth.queue.desk import at_once, order, states, work

ENGINE_QUEUE = engine_queue("counting")
RINGS = 10_000


@pytest.fixture
def broker(redis_server):
    with redis_server.client() as client:
        yield client


@pytest.fixture
def bell() -> Doorbell:
    return Doorbell(wiring.redis)


def waiting(broker: Redis, queue: str = ENGINE_QUEUE) -> int:
    return broker.llen(queue)


def test_ten_thousand_rings_are_few_messages(bell, broker):
    started = time.monotonic()
    for _ in range(RINGS):
        bell.ring_engine("counting")
    periods = (time.monotonic() - started) / (BELL_TTL_MS / 1000)
    assert 1 <= waiting(broker) <= 1 + periods


def test_each_queue_has_a_bell_of_its_own(bell, broker):
    bell.ring_engine("counting")
    bell.ring_engine("another")
    bell.ring_io()
    assert [waiting(broker, queue) for queue in (ENGINE_QUEUE, engine_queue("another"), IO_QUEUE)] == [1, 1, 1]


def test_a_bell_that_was_answered_may_be_rung_again(bell, broker):
    bell.ring_engine("counting")
    bell.answered(ENGINE_QUEUE)
    bell.ring_engine("counting")
    assert waiting(broker) == 2


def test_a_bell_that_nobody_could_take_down_keeps_no_other_from_ringing(broker):
    breaker = Breaker("the Redis of the bells", pause=3600, probe=lambda: None)
    bell = Doorbell(wiring.redis, breaker=breaker)
    bell.ring_engine("counting")
    breaker.failed(OSError("a moment ago"))
    bell.answered(ENGINE_QUEUE)  # in vain
    breaker._open = False
    bell.ring_engine("counting")
    assert waiting(broker) == 2


@pytest.mark.parametrize("trouble", ["kill", "freeze"])
def test_a_request_is_taken_while_the_broker_is_away(committed_world, engine, redis_server, trouble):
    getattr(redis_server, trouble)()
    try:
        jobs = at_once([partial(order, committed_world.owner, f"Sentence {at}.") for at in range(4)], seconds=60)
    finally:
        if trouble == "freeze":
            redis_server.thaw()
        redis_server.start()
    assert [job for job in jobs if isinstance(job, Exception)] == []
    work(engine)
    assert states(Job) == ["succeeded"] * 4


def test_what_was_not_rung_is_rung_by_the_sweeper(committed_world, broker):
    order(committed_world.owner, "One.")
    broker.flushall()  # as a process that died before it rang, or a broker that forgot
    sweep()
    assert waiting(broker) == 1
