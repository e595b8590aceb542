"""What a worker holds: a model is dropped when idle and loaded for work alone; the card goes on being told."""

from __future__ import annotations

import threading
import weakref
from datetime import timedelta

import pytest

from synth import wiring, worker
from synth.errors import EngineUnavailable
from synth.held import HeldEngine
from synth.models import EngineCardRow, EngineWorker, Job, Synthesis
from synth.models.clock import database_now
from tests.engines.counting import NAME, CountingEngine
from tests.synth.queue.desk import order

pytestmark = pytest.mark.django_db


class Shelf:
    """In place of the wiring: makes engines, counts them, and may have none. Only who uses one keeps it."""

    def __init__(self) -> None:
        self.made: list[weakref.ref[CountingEngine]] = []
        self.unloaded = 0
        self.broken = False
        self.version = "counting-1"

    def load(self, _name: str) -> CountingEngine:
        if self.broken:
            raise EngineUnavailable("the weights are gone")
        engine = Unloading(self)
        self.made.append(weakref.ref(engine))
        return engine


class Unloading(CountingEngine):
    def __init__(self, shelf: Shelf) -> None:
        super().__init__(threads=1)
        self.shelf = shelf

    def unload(self) -> None:
        self.shelf.unloaded += 1


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, log) -> Shelf:
    shelf = Shelf()
    monkeypatch.setattr(wiring, "load_engine", shelf.load)
    monkeypatch.setattr("synth.service.synthesis._told_alive", {})
    monkeypatch.setattr(worker, "_held", {})
    return shelf


@pytest.fixture
def held(shelf: Shelf, settings) -> HeldEngine:
    settings.REFRAIN_ENGINES = [NAME]
    worker.load_engines()
    return worker._held[NAME]


def test_only_what_is_idle_is_dropped_and_nothing_holds_on_to_it(held, shelf):
    assert not held.drop_if_idle(3600)
    assert held.drop_if_idle(0)
    assert not held.drop_if_idle(0)
    assert (shelf.unloaded, shelf.made[0](), held.is_loaded) == (1, None, False)
    assert held.card is not None


def test_nothing_is_dropped_that_somebody_has_in_hand(held):
    with held.in_hand() as engine:
        dropped: list[bool] = []
        thread = threading.Thread(target=lambda: dropped.append(held.drop_if_idle(0)))
        thread.start()
        thread.join(30)
        assert (dropped, engine.card.name) == ([False], NAME)
    assert held.drop_if_idle(0)


def test_a_bell_without_work_wakes_no_model_but_tells_that_the_worker_lives(world, held, shelf):
    held.drop_if_idle(0)
    long_ago = database_now() - timedelta(hours=1)
    EngineCardRow.objects.update(seen_at=long_ago)
    worker.answer_bell(NAME)
    row = EngineWorker.objects.get()
    assert (len(shelf.made), row.loaded, row.name) == (1, False, worker.this_worker().name)
    assert EngineCardRow.objects.get().seen_at > long_ago


def test_a_bell_with_work_loads_it_again(world, held, shelf):
    held.drop_if_idle(0)
    order(world.owner, "One sentence.")
    worker.answer_bell(NAME)
    row = Synthesis.objects.get()
    assert (row.state, row.attempt, len(shelf.made), held.is_loaded) == ("succeeded", 1, 2, True)
    assert EngineWorker.objects.get().loaded


def test_a_bell_alone_is_no_use_of_it(world, held):
    before = held._used_at
    worker.answer_bell(NAME)
    assert held._used_at == before
    order(world.owner, "One sentence.")
    worker.answer_bell(NAME)
    assert held._used_at > before


def test_what_cannot_be_loaded_again_is_told_and_claims_nothing(world, held, shelf, monkeypatch):
    held.drop_if_idle(0)
    order(world.owner, "One sentence.")
    shelf.broken = True
    for _ in range(3):
        worker.answer_bell(NAME)
    assert EngineCardRow.objects.get().problem
    assert (Synthesis.objects.get().attempt, Job.objects.get().state) == (0, "queued")
    shelf.broken = False
    worker.answer_bell(NAME)
    assert len(shelf.made) == 1  # not at every bell
    monkeypatch.setattr("synth.held.TRY_AGAIN_AFTER", 0.0)
    monkeypatch.setattr(held, "_try_again_at", 0.0)
    worker.answer_bell(NAME)
    assert (Synthesis.objects.get().state, EngineCardRow.objects.get().problem) == ("succeeded", "")


def test_an_engine_that_will_not_let_go_is_dropped_all_the_same(held, monkeypatch):
    monkeypatch.setattr(Unloading, "unload", lambda _self: 1 / 0)
    assert held.drop_if_idle(0)
    assert not held.is_loaded
