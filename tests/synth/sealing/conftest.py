"""Members whose speech is kept under keys, and the bytes that are kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from synth import wiring
from tenants import sealing
from tests.synth.queue.conftest import engine, log  # noqa: F401 - fixtures
from tests.synth.voices.conftest import Cloner, fresh_parts, world  # noqa: F401 - fixtures
from tests.world import World

FIRST, SECOND = b"1" * 32, b"2" * 32


@pytest.fixture(autouse=True)
def platform_keys(settings: Any) -> Iterator[None]:
    settings.REFRAIN_ENCRYPTION_KEYS = {"first": FIRST}
    sealing.forget_keys()
    yield
    sealing.forget_keys()


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    """Where `fresh_parts` keeps objects."""
    return tmp_path / "audio"


@pytest.fixture
def owner(world: World, engine: Any) -> Cloner:  # noqa: F811
    """Its speech is kept under a key of the platform."""
    sealing.set_encryption(world.owner.tenant, "platform")
    return Cloner(world.owner, engine)


@pytest.fixture
def stranger(world: World, engine: Any) -> Cloner:  # noqa: F811
    """Its speech is kept in clear."""
    return Cloner(world.stranger, engine)


def kept(folder: Path) -> dict[str, bytes]:
    """What lies in storage, by the names of the objects."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def redis_values() -> list[bytes]:
    """Every value that Redis holds, as it holds it."""
    redis = wiring.redis()
    return [redis.dump(name) for name in redis.scan_iter()]
