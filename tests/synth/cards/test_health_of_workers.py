"""Each engine worker tells a row of itself; those that are gone leave none for long."""

from datetime import timedelta

import pytest

from synth import health
from synth.health import Run
from synth.models import EngineWorker
from synth.models.clock import database_now
from tests.engines.counting import CountingEngine

pytestmark = pytest.mark.django_db


class OnDevice(CountingEngine):
    device = "cuda:0 (H200)"

    def device_memory(self) -> int:
        return 5 * 2**30


@pytest.fixture(autouse=True)
def _no_runs_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_runs", {})


def test_a_worker_tells_model_device_memory_and_speed():
    health.note_run("counting", Run(1.0, 4.0))
    health.note_run("counting", Run(3.0, 4.0))
    health.tell("one", OnDevice())
    health.tell("two", CountingEngine())
    one, two = EngineWorker.objects.order_by("name")
    assert (one.engine, one.model_version, one.device, one.device_memory) == (
        "counting", "counting-1", "cuda:0 (H200)", 5 * 2**30,
    )  # fmt: skip
    assert one.real_time_factor == 0.5
    assert (two.device, two.device_memory) == ("cpu", 0)
    assert two.memory > 2**20


def test_a_worker_that_has_not_spoken_yet_has_no_speed():
    health.tell("one", CountingEngine())
    assert EngineWorker.objects.get().real_time_factor is None


def test_the_same_worker_keeps_one_row():
    health.tell("one", OnDevice())
    health.tell_unloaded("one", "counting")
    row = EngineWorker.objects.get()
    assert (row.loaded, row.device, row.device_memory) == (False, "cuda:0 (H200)", 0)
    health.tell("one", OnDevice())
    assert EngineWorker.objects.get().loaded


def test_a_worker_takes_its_row_along_and_others_clear_up_after_the_dead():
    for name in ("one", "two", "killed"):
        health.tell(name, CountingEngine())
    health.tell_gone("two")
    long_ago = database_now() - health.KEPT_FOR - timedelta(seconds=1)
    EngineWorker.objects.filter(name="killed").update(seen_at=long_ago)
    health.tell("one", CountingEngine())
    assert list(EngineWorker.objects.values_list("name", flat=True)) == ["one"]
    assert [row.name for row in health.workers("counting", "counting-1")] == ["one"]
