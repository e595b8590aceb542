"""What the tests of the audit share: a chain of some segments, and a way around what refuses changes."""

from collections.abc import Callable

import pytest
from django.db import connection

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


@pytest.fixture
def as_owner(db: None) -> Callable[..., None]:
    """SQL of one who owns the tables, so that no trigger holds him."""
    on_postgres = connection.vendor == "postgresql"

    def execute(statement: str, *values: object) -> None:
        with connection.cursor() as cursor:
            if on_postgres:
                cursor.execute("SET LOCAL session_replication_role = replica")
            found = [value.hex if hasattr(value, "hex") and not on_postgres else value for value in values]
            cursor.execute(statement, found)

    return execute
