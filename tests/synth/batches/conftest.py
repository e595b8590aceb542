"""A member who sends batches over HTTP, and workers that do them in the test's own process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from synth import service
from tests.engines.counting import CountingEngine
from tests.synth.curation.conftest import Speaker, fresh_parts, world  # noqa: F401 - fixtures
from tests.synth.queue.conftest import engine, log  # noqa: F401 - fixtures
from tests.world import World

BATCHES = "/v1/batches"


class Sender(Speaker):
    """`send` answers with the batch that was taken, `finish` with what it came to."""

    def upload(self, body: bytes, content_type: str = "application/json", query: str = "", **headers: str) -> Any:
        address = BATCHES + query
        return self.client.generic("POST", address, body, content_type=content_type, headers=headers)

    def send(self, *items: Any, **head: Any) -> dict[str, Any]:
        answer = self.upload(json.dumps({"items": items, **head}).encode())
        assert answer.status_code == 202, answer.content
        told: dict[str, Any] = answer.json()
        assert answer["Location"] == told["href"]
        return told

    def send_lines(self, body: bytes, content_type: str, query: str = "") -> dict[str, Any]:
        answer = self.upload(body, content_type, query)
        assert answer.status_code == 202, answer.content
        told: dict[str, Any] = answer.json()
        return told

    def items(self, batch: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(batch["results"]["items"], limit=200, **query)["results"]
        return found

    def manifest(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.read(batch["results"]["manifest"]).splitlines()]

    def read(self, path: str) -> bytes:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.content
        return b"".join(answer.streaming_content)

    def counts(self, batch: dict[str, Any]) -> dict[str, int]:
        """Those that are not 0."""
        counts = self.get(batch["href"])["counts"]
        assert counts["total"] == sum(count for name, count in counts.items() if name != "total")
        return {name: count for name, count in counts.items() if count}

    def begin(self) -> None:
        """Have as much queued as may be open at a time."""
        service.drain_actions()


@pytest.fixture
def owner(world: World, engine: CountingEngine) -> Sender:  # noqa: F811
    return Sender(world.owner, engine)


@pytest.fixture
def stranger(world: World, engine: CountingEngine) -> Sender:  # noqa: F811
    return Sender(world.stranger, engine)


def item(text: str, **fields: Any) -> dict[str, Any]:
    return {"text": text, "format": "wav", **fields}
