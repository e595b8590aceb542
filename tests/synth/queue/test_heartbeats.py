"""A lease is renewed while its work runs and no longer, and a deadline holds whatever became of the lease."""

from __future__ import annotations

import os
import select
import threading

import pytest
from django.db import OperationalError

from synth.models import Synthesis
from synth.queue import lease
from synth.queue.lease import kept_alive
from tests.synth.queue.desk import OTHER, claim, order

PATIENCE = 30


@pytest.fixture
def held(committed_world) -> Synthesis:
    order(committed_world.owner, "One.")
    return claim()


@pytest.fixture
def deadline_passed() -> threading.Event:
    return threading.Event()


def until(condition) -> bool:
    """Whether it comes true in time; asked again and again."""
    pause = threading.Event()
    return any(condition() or pause.wait(0.02) for _ in range(PATIENCE * 50))


def test_it_is_renewed_while_the_work_runs(held, deadline_passed):
    first = held.lease_until
    with kept_alive(held, lease=100, interval=0.05, deadline=PATIENCE, at_deadline=deadline_passed.set):
        assert until(lambda: Synthesis.objects.get().lease_until > first)
    assert not deadline_passed.is_set()


def test_the_deadline_ends_the_work(held, deadline_passed):
    with kept_alive(held, lease=100, interval=0.05, deadline=0.2, at_deadline=deadline_passed.set):
        assert deadline_passed.wait(PATIENCE)


def test_work_that_ends_in_time_is_not_ended_later(held, deadline_passed):
    with kept_alive(held, lease=100, interval=0.05, deadline=0.4, at_deadline=deadline_passed.set):
        pass
    assert not deadline_passed.wait(0.8)  # twice the deadline is the time that this is about


def test_the_deadline_holds_for_a_claim_that_was_lost(held, deadline_passed, lapse, caplog):
    lapse(held)
    assert claim(OTHER)
    with kept_alive(held, lease=100, interval=0.05, deadline=1.0, at_deadline=deadline_passed.set):
        assert deadline_passed.wait(PATIENCE)
    assert "another worker's now" in caplog.text


def test_the_deadline_holds_while_the_database_does_not_answer(held, deadline_passed, monkeypatch):
    answers = threading.Event()
    monkeypatch.setattr(lease, "renew", lambda *_: answers.wait(PATIENCE))
    with kept_alive(held, lease=100, interval=0.05, deadline=0.3, at_deadline=deadline_passed.set):
        in_time = deadline_passed.wait(PATIENCE / 2)
        answers.set()
    assert in_time


def test_a_database_that_fails_is_asked_again_at_the_next_beat(held, deadline_passed, monkeypatch):
    beats = []

    def fail(*_: object) -> bool:
        beats.append(1)
        raise OperationalError

    monkeypatch.setattr(lease, "renew", fail)
    with kept_alive(held, lease=100, interval=0.05, deadline=PATIENCE, at_deadline=deadline_passed.set):
        assert until(lambda: len(beats) >= 3)


def beating() -> int:
    return sum(thread.name.startswith("heartbeat") for thread in threading.enumerate())


def test_threads_are_kept_from_claim_to_claim(held, deadline_passed):
    for _ in range(30):
        with kept_alive(held, lease=100, interval=PATIENCE, deadline=PATIENCE, at_deadline=deadline_passed.set):
            pass
    assert beating() < 30
    assert not deadline_passed.is_set()


def test_a_forked_child_has_heartbeats_of_its_own(held, deadline_passed):
    """Celery forks, and a child has no thread of its parent's."""
    with kept_alive(held, lease=100, interval=PATIENCE, deadline=PATIENCE, at_deadline=deadline_passed.set):
        pass
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with kept_alive(
            held, lease=100, interval=PATIENCE, deadline=0.1, at_deadline=lambda: os.write(writing, b"passed")
        ):
            threading.Event().wait(PATIENCE / 2)
        os._exit(0)
    try:
        told, _, _ = select.select([reading], [], [], PATIENCE)
        assert told
        assert os.read(reading, 6) == b"passed"
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


def test_a_heartbeat_that_breaks_is_told_of(held, deadline_passed, monkeypatch, caplog):
    monkeypatch.setattr(lease, "renew", lambda *_: 1 / 0)
    with kept_alive(held, lease=100, interval=0.01, deadline=PATIENCE, at_deadline=deadline_passed.set):
        assert until(lambda: "ZeroDivisionError" in caplog.text)
