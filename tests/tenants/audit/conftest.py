"""What the tests of the audit share: a chain of some segments."""

import pytest

from tenants.audit.events import Event
from tenants.audit.writing import append
from tests.world import World, world  # noqa: F401 - a fixture

SIZES = (3, 2, 4)


def events(count: int) -> list[Event]:
    return [Event(action="GET /v1/voices", actor_kind="key", object=f"vox_{number}") for number in range(count)]


@pytest.fixture
def chain(world: World):  # noqa: F811
    """The owner's, of nine events in three segments."""
    for size in SIZES:
        append(world.owner.tenant.id, events(size))
    return world.owner.tenant.id
