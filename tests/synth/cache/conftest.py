"""What the tests of the cache share: a warm process with a member whose speech is finished."""

from collections.abc import Iterator

import pytest

from synth import wiring
from tests import cards
from tests.express import ExpressClient
from tests.finished import Finished, finish
from tests.synth.cache.counting import sent  # noqa: F401 - a fixture
from tests.world import World, make_world

BODY = {"text": "Hello there."}


@pytest.fixture
def fresh_parts(tmp_path, settings) -> Iterator[None]:
    """Parts of their own, with files in a folder of their own."""
    options = settings.REFRAIN["STORAGE_OPTIONS"]
    files = {**options["files"], "root": str(tmp_path / "audio")}
    settings.REFRAIN = {**settings.REFRAIN, "STORAGE_OPTIONS": {**options, "files": files}}
    wiring.forget_parts()
    yield
    wiring.forget_parts()


@pytest.fixture
def world(transactional_db: None, fresh_parts: None) -> World:
    """With real commits, so that new versions reach Redis."""
    cards.publish()
    return make_world()


@pytest.fixture
def finished(world: World) -> Finished:
    return finish(world.owner, BODY)


class Speaker:
    """Asks over HTTP as one member."""

    def __init__(self, headers: dict[str, str]) -> None:
        self._client = ExpressClient(headers=headers)

    def __call__(self, content: str | None = None, **body):
        if content is not None:
            return self._client.post("/v1/speech", content, content_type="application/json")
        return self._client.post("/v1/speech", {**BODY, "wait": 0, **body}, content_type="application/json")


@pytest.fixture
def ask(world: World) -> Speaker:
    return Speaker(world.owner.headers)
