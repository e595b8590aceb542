"""The sweeper repairs what has no bell, no heartbeat and no end; two at once do no harm."""

from __future__ import annotations

from datetime import timedelta

import pytest

from synth import cards
from synth.models import EngineCardRow, Job, Rendering, RenderingPart, Synthesis
from synth.models.clock import database_now
from synth.models.states import State
from synth.queue.doorbell import IO_QUEUE, engine_queue
from synth.service import stuck, sweeping
from synth.service.inspection import Check
from synth.service.stuck import STUCK_AFTER
from synth.service.sweeping import sweep
from tests.synth.queue.desk import at_once, claim, order, speak_all, states, work


@pytest.fixture
def world(committed_world):
    """Bells ring on commit, so these tests commit."""
    return committed_world


@pytest.fixture
def queued(redis_server):
    with redis_server.client() as client:
        yield client.llen


def age(rows: type[Rendering | Synthesis], by: timedelta) -> None:
    rows.objects.update(created_at=database_now() - by - timedelta(seconds=1))


def lose_the_hand_on() -> None:
    """All sentences are in, but the rendering was not told."""
    assert Rendering.objects.filter(state=State.QUEUED).update(state=State.WAITING)
    age(Rendering, STUCK_AFTER)


def test_it_rings_for_a_lease_that_ran_out(world, queued, redis_server, lapse):
    order(world.owner, "One.")
    lapse(claim())
    redis_server.flush()
    sweep()
    assert queued(engine_queue("counting")) == 1


def test_it_rings_nobody_when_there_is_nothing_to_do(world, queued):
    order(world.owner, "One.")
    claim()
    with_bell = queued(engine_queue("counting"))
    sweep()
    assert (queued(engine_queue("counting")), queued(IO_QUEUE)) == (with_bell, 0)


def test_it_hands_on_a_complete_rendering(world, engine, queued, redis_server):
    order(world.owner, "One.")
    speak_all(engine)
    lose_the_hand_on()
    redis_server.flush()
    sweep()
    assert (states(Rendering), queued(IO_QUEUE)) == (["queued"], 1)


def test_it_leaves_an_incomplete_rendering_waiting(world, engine):
    order(world.owner, "One. Two.")
    age(Rendering, STUCK_AFTER)
    sweep()
    assert states(Rendering) == ["waiting"]


@pytest.mark.parametrize("loss", ["deleted", "canceled"])
def test_it_ends_a_rendering_that_nobody_works_for(world, loss):
    order(world.owner, "One. Two.")
    lost = Synthesis.objects.filter(parts__position=1)
    lost.delete() if loss == "deleted" else lost.update(state=State.CANCELED)
    age(Rendering, STUCK_AFTER)
    sweep()
    assert (states(Job), states(Rendering)) == (["failed"], ["failed"])
    assert Job.objects.get().error_code == "sentences_lost"
    assert not Synthesis.objects.filter(state=State.QUEUED).exists()


@pytest.fixture
def old_version(world, engine, lapse):
    """A queued and an abandoned sentence of a version whose workers are gone; another version is current."""
    cards.publish(engine.card)
    order(world.owner, "One. Two.", version="counting-0")
    lapse(claim(version="counting-0"))
    EngineCardRow.objects.create(
        name="counting", model_version="counting-0", seen_at=database_now() - cards.GONE_AFTER * 2
    )
    age(Synthesis, cards.GONE_AFTER)


def test_it_ends_sentences_of_a_version_that_is_gone(old_version):
    sweep()
    assert (states(Synthesis)[-1], states(Job), Job.objects.get().error_code) == (
        "failed",
        ["failed"],
        "engine_version_gone",
    )
    assert not Synthesis.objects.filter(state__in=[State.QUEUED, State.RUNNING]).exists()


def test_it_leaves_a_version_that_still_has_workers(old_version):
    cards.seen("counting", "counting-0")
    sweep()
    assert states(Job) == ["queued"]


def test_it_leaves_the_current_version_however_long_its_workers_are_away(world, engine):
    cards.publish(engine.card)
    order(world.owner, "One.")
    EngineCardRow.objects.update(seen_at=database_now() - cards.GONE_AFTER * 2)
    age(Synthesis, cards.GONE_AFTER)
    sweep()
    assert states(Job) == ["queued"]


def test_two_sweepers_at_once_do_no_harm(world, engine, old_version):
    order(world.owner, "Three.")
    speak_all(engine)
    lose_the_hand_on()
    order(world.owner, "Four. Five.")
    assert [result for result in at_once([sweep] * 4) if result is not None] == []
    work(engine)
    assert states(Job) == ["failed", "succeeded", "succeeded"]
    assert not RenderingPart.objects.filter(rendering__state=State.SUCCEEDED, digest="").exists()


def test_a_repair_that_breaks_does_not_keep_the_others_from_it(world, engine, monkeypatch, caplog):
    def break_down() -> list[str]:
        raise ValueError("a row that nobody reckoned with")

    broken = Check(name="what cannot be", says="", find=break_down)
    monkeypatch.setattr(sweeping, "EVERY_ROUND", (broken, *stuck.EVERY_ROUND))
    order(world.owner, "One.")
    speak_all(engine)
    lose_the_hand_on()
    sweep()
    assert states(Rendering) == ["queued"]
    assert "not repaired: what cannot be" in caplog.text
