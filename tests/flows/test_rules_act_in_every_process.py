"""A TTL rule saved in the admin of one process acts on the next request in every other, on what is stored already."""

import re

import httpx
import pytest

from tests.stack import Stack

pytestmark = pytest.mark.stack

BODY = {"text": "Hello there."}
USER = {"username": "root", "password": "a-password-of-the-tests"}
FORM = {
    "tenant": "", "note": "", "priority": "100", "enabled": "on", "category": "", "engine": "", "voice": "",
    "min_characters": "", "max_characters": "", "max_age": "", "stale": "0", "hot_hits": "", "hot_window": "",
    "hot_factor": "", "hot_ceiling": "", "model_change": "serve_old",
}  # fmt: skip


AGE_ALL = """
from datetime import timedelta
from django.utils import timezone
from synth.models import Entry
Entry.objects.update(made_at=timezone.now() - timedelta(seconds=1000))
"""
OLDER, YOUNGER = "2000", "900"


@pytest.fixture
def running(stack: Stack) -> Stack:
    """Two API processes, both warm with a sound that is a thousand seconds old."""
    stack.api(2)
    stack.engine_worker()
    stack.io_worker()
    stack.wait_for_engines()
    stack.run("shell", "-c", f"from django.contrib.auth.models import User; User.objects.create_superuser(**{USER!r})")
    clients(stack)[0].post("/v1/speech", json=BODY).raise_for_status()
    stack.run("shell", "-c", AGE_ALL)
    stack.redis.flush()
    assert told(stack) == ["restored", "hit"]
    assert told(stack) == ["hit", "hit"]
    return stack


def clients(stack: Stack) -> list[httpx.Client]:
    return [stack.client(child) for child in stack.children if child.port]


def told(stack: Stack) -> list[str]:
    """How each process answers at once."""
    answers = [client.post("/v1/speech", json={**BODY, "wait": 0}) for client in clients(stack)]
    return ["queued" if answer.status_code == 202 else answer.json()["cache"] for answer in answers]


class Admin:
    """A superuser's browser at the first process, which knows one rule."""

    def __init__(self, stack: Stack) -> None:
        self._client = httpx.Client(base_url=clients(stack)[0].base_url, trust_env=False, timeout=60)
        self._rule = ""
        self._post("/admin/login/", **USER)

    def save(self, **changes: str) -> None:
        self._post(self._rule or "/admin/synth/policy/add/", **{**FORM, **changes})
        page = self._client.get("/admin/synth/policy/").text
        self._rule = re.search(r"/admin/synth/policy/[0-9a-f-]{36}/change/", page)[0]

    def delete(self) -> None:
        self._post(self._rule.replace("/change/", "/delete/"), post="yes")
        self._rule = ""

    def _post(self, address: str, **data: str) -> None:
        page = self._client.get(address).text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
        answer = self._client.post(address, data={"csrfmiddlewaretoken": token, **data})
        assert answer.status_code == 302, answer.text


def test_a_saved_rule_acts_on_the_next_request_of_every_process(running: Stack) -> None:
    for child in running.children:
        if "engine" in child.name:
            running.kill(child)  # what is queued stays queued
    admin = Admin(running)
    admin.save(max_age=YOUNGER)
    assert told(running) == ["queued", "queued"]
    admin.save(max_age=OLDER)
    assert told(running) == ["hit", "hit"]
    admin.save(never_cache="on")
    assert told(running) == ["queued", "queued"]
    admin.save(max_age=YOUNGER, enabled="")
    assert told(running) == ["hit", "hit"]
    admin.save(max_age=YOUNGER, stale=OLDER)
    assert told(running) == ["stale", "stale"]
    admin.save(max_age=YOUNGER)
    assert told(running) == ["queued", "queued"]
    admin.save(pinned="on")
    assert told(running) == ["hit", "hit"]
    admin.save(max_age=YOUNGER)
    admin.delete()
    assert told(running) == ["hit", "hit"]


def test_what_is_served_old_is_made_anew_once(running: Stack) -> None:
    before = len(running.runs())
    Admin(running).save(max_age=YOUNGER, stale=OLDER)
    seen = []

    def renewed() -> bool:
        seen.extend(told(running))
        return seen[-2:] == ["hit", "hit"]

    running.wait_until(renewed, seconds=60, what="the renewal")
    assert set(seen) == {"stale", "hit"}
    assert seen[:2] == ["stale", "stale"]
    assert len(running.runs()) == before + 1


def test_what_is_never_cached_is_made_for_each_that_does_not_wait_for_the_same(running: Stack) -> None:
    before = len(running.runs())
    Admin(running).save(never_cache="on")
    answers = [client.post("/v1/speech", json=BODY).json() for client in clients(running)]
    assert [answer["cache"] for answer in answers] == ["bypass", "bypass"]
    assert len({answer["sha256"] for answer in answers}) == 1
    assert len(running.runs()) == before + 2
