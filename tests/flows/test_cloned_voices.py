"""Many voices at one moment, each answer by its own; and uploads that outlive the worker that was at them."""

from __future__ import annotations

import json
import signal
from typing import Any

import httpx
import pytest

from tests.faults.asking import crowd, post, rows
from tests.recordings import CONSENT, recording
from tests.stack import Stack

pytestmark = pytest.mark.stack

VOICES = [f"speaker{number}" for number in range(10)]
TEXTS = [
    "Good morning to all of you.",
    "The train leaves at nine. Do not be late.",
    "你好，世界。",
    "What a lovely day it is!",
    "Thank you, and goodbye.",
]


def upload(client: httpx.Client, number: int) -> dict[str, Any]:
    answer = client.post(
        "/v1/voices",
        files={"file": ("speaker.wav", recording(number))},
        data={"name": VOICES[number], "language": "en", "engine": "counting", "consent": json.dumps(CONSENT)},
    )
    assert answer.status_code == 202, answer.text
    told: dict[str, Any] = answer.json()
    return told


def all_ready(client: httpx.Client, hrefs: list[str]) -> bool:
    states = [client.get(href).json()["state"] for href in hrefs]
    assert "refused" not in states, [client.get(href).json()["reason"] for href in hrefs]
    return set(states) == {"ready"}


def test_fifty_requests_with_ten_voices_and_five_texts_are_each_right(make_stack) -> None:
    stack: Stack = make_stack(env={"COUNTING_SECONDS": "0.02"})
    stack.api(2)
    stack.engine_worker(2)
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    with stack.client() as client:
        hrefs = [upload(client, number)["href"] for number in range(len(VOICES))]
        stack.wait_until(lambda: all_ready(client, hrefs), seconds=180, what="ten voices")
        bodies = [{"text": text, "voice": voice, "format": "wav", "wait": 60} for text in TEXTS for voice in VOICES]
        answers = crowd(stack, bodies)
        assert {answer.status for answer in answers} == {200}, [item.body for item in answers if item.status != 200]
        assert len({answer.sha256 for answer in answers}) == 50
        assert [answer.body["voice"] for answer in answers] == [body["voice"] for body in bodies]
        alone = [post(client, {**body, "cache": "bypass"}) for body in bodies]
    assert [answer.sha256 for answer in answers] == [answer.sha256 for answer in alone]
    assert [answer.body["duration"] for answer in answers] == [answer.body["duration"] for answer in alone]


def test_a_killed_worker_loses_no_upload(make_stack) -> None:
    stack: Stack = make_stack(env={"REFRAIN_LEASE": "2", "REFRAIN_HEARTBEAT": "0.5"})
    stack.api()
    stack.engine_worker()
    (io,) = stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    with stack.client() as client:
        hrefs = [upload(client, number)["href"] for number in range(4)]
        running = "SELECT count(*) FROM synth_clonedvoice WHERE state = 'running'"
        stack.wait_until(lambda: rows(stack, running)[0][0], seconds=60, what="a decoder at work")
        stack.kill(io, signal.SIGKILL)
        stack.io_worker()
        stack.wait_until(lambda: all_ready(client, hrefs), seconds=120, what="four voices")
    found = rows(stack, "SELECT kind, count(*) FROM synth_voiceevent GROUP BY kind ORDER BY kind")
    assert [tuple(row) for row in found] == [("created", 4), ("ready", 4)]
