"""SIGTERM lets a process finish what it has in hand and nothing more; others take over the rest."""

from __future__ import annotations

import threading

import pytest
from celery import Celery

from tests.faults.asking import Answer, crowd, jobs_in, rows, wait_until_all_end
from tests.stack import Stack

pytestmark = pytest.mark.stack

SENTENCES = 8


@pytest.fixture
def running(make_stack) -> Stack:
    stack = make_stack(env={"COUNTING_SECONDS": "0.7"})
    stack.api()
    stack.beat()
    return stack


def test_an_engine_worker_finishes_its_sentence_and_another_one_takes_the_rest(running: Stack) -> None:
    io = running.io_worker()
    (first,) = running.engine_worker()
    running.wait_for_engines()
    crowd(running, [{"text": " ".join(f"Sentence number {at}." for at in range(SENTENCES)), "wait": 0}])
    running.wait_until(lambda: len(running.runs()) >= 2, seconds=30, what="the second sentence")
    assert running.terminate(first, seconds=60) == 0
    started = len(running.runs())
    states = [state for (state,) in rows(running, "SELECT state FROM synth_synthesis ORDER BY state")]
    assert states == ["queued"] * (SENTENCES - started) + ["succeeded"] * started
    assert started < SENTENCES

    running.engine_worker()
    wait_until_all_end(running, 1, seconds=60)
    assert (jobs_in(running, "succeeded"), len(running.runs())) == (1, SENTENCES)

    assert running.terminate(io[0], seconds=60) == 0
    crowd(running, [{"text": "Sentence number 0.", "wait": 0}])
    assert rows(running, "SELECT state FROM synth_rendering WHERE state <> 'succeeded'") == [("queued",)]
    running.io_worker()
    wait_until_all_end(running, 2, seconds=60)
    assert jobs_in(running, "succeeded") == 2


def test_an_api_process_answers_those_who_wait(running: Stack) -> None:
    running.engine_worker()
    running.io_worker()
    running.wait_for_engines()
    (first,) = [child for child in running.children if child.port]
    (second,) = running.api()
    answers: list[Answer] = []
    body = {"text": " ".join(f"Sentence number {at}." for at in range(SENTENCES)), "wait": 60}
    asking = threading.Thread(target=lambda: answers.extend(crowd(running, [body], apis=[first])))
    asking.start()
    running.wait_until(running.runs, seconds=30, what="the first sentence")
    assert running.terminate(first, seconds=60) == 0
    asking.join(60)
    assert [(answer.status, answer.body["status"]) for answer in answers] in ([(202, "queued")], [(202, "running")])
    wait_until_all_end(running, 1, seconds=60)
    with running.client(second) as client:
        told = client.get(f"/v1/speech/{answers[0].body['id']}").json()
    assert (told["status"], len(running.runs())) == ("succeeded", SENTENCES)


def test_a_message_of_another_version_is_thrown_away(running: Stack) -> None:
    """While a deployment rolls, a worker hears of tasks that it does not know."""
    (io,) = running.io_worker()
    running.engine_worker()
    running.wait_for_engines()
    with Celery(broker=running.redis.url, set_as_current=False) as newer:
        newer.send_task("synth.of_tomorrow", queue="io")
    running.wait_until(lambda: "unregistered task" in io.output(), seconds=30, what="the message")
    crowd(running, [{"text": "One more.", "wait": 0}])
    wait_until_all_end(running, 1, seconds=60)
    assert (jobs_in(running, "succeeded"), io.alive) == (1, True)
