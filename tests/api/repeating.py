"""Requests with an `Idempotency-Key`, and what tells that an answer was given before: for the tests of idempotency."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse

from synth.models import IdempotentRequest
from synth.models.clock import database_now
from tests.api.caller import Caller

TEXT = "Hello there."
KEY = {"Idempotency-Key": '"one"'}
REPLAYED = "Idempotency-Replayed"


def speak(caller: Caller, key: str = "one", headers: dict[str, str] | None = None, **body: Any) -> Any:
    return caller.speak({"text": TEXT, **body}, headers={"Idempotency-Key": key, **(headers or {})})


def told_before(response: HttpResponse) -> bool:
    return response.get(REPLAYED) == "true"


def same_but(first: Any, second: Any, *others: str) -> bool:
    return {**first.json(), **dict.fromkeys(others)} == {**second.json(), **dict.fromkeys(others)}


def die_before_the_answer_is_kept(monkeypatch: pytest.MonkeyPatch, request: Callable[[], Any]) -> Any:
    """Its process dies; and then its lease runs out."""
    with monkeypatch.context() as patch:
        patch.setattr("synth.service.keep", lambda *_: None)
        answer = request()
    IdempotentRequest.objects.update(lease_until=database_now() - timedelta(seconds=1))
    return answer
