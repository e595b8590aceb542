"""What the tests of the tenants app share."""

from collections.abc import Iterator

import pytest

from tenants.versions import set_publisher
from tests.world import world  # noqa: F401 - a fixture


@pytest.fixture
def published() -> Iterator[list[dict]]:
    """Every set of versions that was published, in order."""
    seen: list[dict] = []
    before = set_publisher(lambda versions: seen.append(dict(versions)))
    yield seen
    set_publisher(before)
