"""What the tests of the HTTP API share: cards are published, no worker runs, every test has fresh parts."""

from collections.abc import Iterator

import pytest

from synth import wiring
from tenants import last_used
from tests.api.caller import Caller
from tests.cards import published_cards  # noqa: F401 - a fixture
from tests.world import World, world  # noqa: F401 - a fixture


@pytest.fixture(autouse=True)
def _fresh_parts() -> Iterator[None]:
    wiring.forget_parts()
    yield
    last_used._recorder._notes.clear()
    wiring.forget_parts()


@pytest.fixture
def owner(world: World, published_cards: None) -> Caller:  # noqa: F811
    return Caller(world.owner)


@pytest.fixture
def stranger(world: World, published_cards: None) -> Caller:  # noqa: F811
    return Caller(world.stranger)
