"""Members who upload voices over HTTP; the work of io and engine workers is done in the test's own process."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from synth import service
from synth.models import ClonedVoice
from synth.models.states import OPEN
from tests.express import ExpressClient
from tests.recordings import form
from tests.synth.curation.conftest import Speaker, fresh_parts, world  # noqa: F401 - fixtures
from tests.synth.queue.conftest import engine, log  # noqa: F401 - fixtures
from tests.synth.queue.desk import WORKER
from tests.world import World


class Cloner(Speaker):
    """A speaker with voices of its own."""

    def upload(self, data: bytes | None = None, **fields: Any) -> Any:
        return self.client.post("/v1/voices", form(data, **fields))

    def clone(self, data: bytes | None = None, **fields: Any) -> dict[str, Any]:
        """The voice once it is decoded, whatever became of it."""
        answer = self.upload(data, **fields)
        assert answer.status_code in {200, 202}, answer.content
        self.decode()
        return self.get(answer.json()["href"])

    def decode(self) -> None:
        """Until nothing waits: on a busy machine a decoder may not be done in time, and is tried again."""
        for _ in range(5):
            service.drain_voices(WORKER)
            if not ClonedVoice.objects.filter(state__in=OPEN).update(not_before=None, attempt=0):
                return
        raise AssertionError(ClonedVoice.objects.values())

    def voices(self) -> list[dict[str, Any]]:
        return [voice for voice in self.get("/v1/voices")["results"] if voice["own"]]

    def delete(self, voice: dict[str, Any]) -> int:
        return int(self.client.delete(f"/v1/voices/{voice['id']}").status_code)


@pytest.fixture
def owner(world: World, engine: Any) -> Cloner:  # noqa: F811
    return Cloner(world.owner, engine)


@pytest.fixture
def stranger(world: World, engine: Any) -> Cloner:  # noqa: F811
    return Cloner(world.stranger, engine)


@pytest.fixture
def another_process(owner: Cloner) -> Client:
    """The owner at an API process that answers what it knows before Django."""
    return ExpressClient(headers=owner.member.headers)
