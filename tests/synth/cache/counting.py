"""Counts what goes to Redis: each packed send of a connection is one round trip, a pipeline too."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from redis.connection import Connection


class RoundTrips(list[bytes]):
    """What was sent, in order."""


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> RoundTrips:
    """Everything that this process sends to any Redis from now on."""
    seen = RoundTrips()
    send = Connection.send_packed_command

    def noting(self: Connection, command: object, check_health: bool = True) -> None:
        seen.append(b"".join(command) if isinstance(command, list) else bytes(command))  # type: ignore[arg-type]
        send(self, command, check_health)

    monkeypatch.setattr(Connection, "send_packed_command", noting)
    return seen


@contextmanager
def round_trips(seen: RoundTrips, expected: int) -> Iterator[None]:
    before = len(seen)
    yield
    assert len(seen) - before == expected, seen[before:]
