"""A member who asks over HTTP, an engine that counts its runs, and their work done in the test's own process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from synth import service, wiring
from synth.models import CurationAction
from synth.models.states import OPEN
from tests import cards
from tests.engines.counting import CountingEngine
from tests.synth.queue.conftest import engine, log  # noqa: F401 - fixtures
from tests.synth.queue.desk import work
from tests.world import Member, World, make_world


@pytest.fixture
def fresh_parts(tmp_path: Path, settings: Any) -> Iterator[None]:
    options = settings.REFRAIN["STORAGE_OPTIONS"]
    files = {**options["files"], "root": str(tmp_path / "audio"), "base_url": "http://testserver"}
    settings.REFRAIN = {**settings.REFRAIN, "STORAGE_OPTIONS": {**options, "files": files}}
    wiring.forget_parts()
    yield
    wiring.forget_parts()


@pytest.fixture
def world(transactional_db: None, fresh_parts: None) -> World:
    cards.publish()
    return make_world()


class Speaker:
    """One member's client; `work` speaks what it asked for."""

    def __init__(self, member: Member, engine: CountingEngine) -> None:  # noqa: F811
        self.member = member
        self._engine = engine
        self.client = Client(headers=member.headers)

    def ask(self, text: str, **body: Any) -> Any:
        return self.post("/v1/speech", {"text": text, "format": "wav", "wait": 0, **body})

    def post(self, path: str, body: Any, content_type: str = "application/json") -> Any:
        return self.client.post(path, body, content_type=content_type)

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(path, query).json()

    def how(self, text: str, **body: Any) -> str:
        """hit, restored or miss."""
        answer = self.ask(text, **body)
        return str(answer.json()["cache"]) if answer.status_code == 200 else "miss"

    def speak(self, text: str, **body: Any) -> dict[str, Any]:
        """The answer once it is a hit."""
        if self.ask(text, **body).status_code == 202:
            self.work()
        answer = self.ask(text, **body)
        assert answer.status_code == 200, answer.content
        told: dict[str, Any] = answer.json()
        return told

    def work(self) -> None:
        work(self._engine)

    def order(self, what: str, **body: Any) -> dict[str, Any]:
        """An action that is accepted; its body."""
        answer = self.post(f"/v1/cache/{what}", body)
        assert answer.status_code in {200, 202}, answer.content
        told: dict[str, Any] = answer.json()
        return told

    def finish(self, action: dict[str, Any]) -> dict[str, Any]:
        """The action once it has ended, worked off by workers."""
        for _ in range(200):
            service.drain_actions()
            self.work()
            told = self.get(action["href"])
            if told["status"] not in OPEN:
                return told
        raise AssertionError(f"it does not end: {CurationAction.objects.values()}")


@pytest.fixture
def owner(world: World, engine: CountingEngine) -> Speaker:  # noqa: F811
    return Speaker(world.owner, engine)


@pytest.fixture
def stranger(world: World, engine: CountingEngine) -> Speaker:  # noqa: F811
    return Speaker(world.stranger, engine)
