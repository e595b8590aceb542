"""A counting engine that takes no time, with its log, and an audio store of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from synth import wiring
from synth.models import Rendering, Synthesis
from synth.models.clock import database_now
from synth.storage import files
from tests.engines.counting import CountingEngine
from tests.moves import moves  # noqa: F401 - a fixture
from tests.world import World, make_world, world  # noqa: F401 - a fixture


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COUNTING_LOG", str(tmp_path / "runs.jsonl"))
    monkeypatch.setenv("COUNTING_SECONDS", "0")
    return tmp_path / "runs.jsonl"


@pytest.fixture
def engine(log: Path) -> CountingEngine:
    return CountingEngine()


@pytest.fixture(autouse=True)
def audio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an audio store that only this test writes to."""
    root = tmp_path / "audio"
    options = {"root": str(root), "base_url": "http://testserver", "signing_key": "queue-suite-signing-key"}
    store = files.open_store(options)
    wiring.forget_parts()
    monkeypatch.setattr(wiring, "object_store", lambda: store)
    yield root
    monkeypatch.undo()
    wiring.forget_parts()


@pytest.fixture
def committed_world(transactional_db: None) -> World:
    """For tests with several threads, which must see each other's rows."""
    return make_world()


@pytest.fixture
def lapse() -> Callable[[Synthesis | Rendering], None]:
    """Let the lease of a claim run out, as if its worker had died."""

    def run_out(claimed: Synthesis | Rendering) -> None:
        past = database_now() - timedelta(seconds=1)
        assert type(claimed).objects.filter(id=claimed.id, state="running").update(lease_until=past) == 1

    return run_out
