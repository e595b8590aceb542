"""Finished audio that storage has lost or cut: heard again under the same id, and made no more often than needed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from django.test import Client

from synth import cards
from synth.models import Entry, Job, Rendering
from synth.models.states import OPEN
from synth.types import CacheMode
from tenants.ids import public_id
from tests.engines.counting import CountingEngine
from tests.synth.queue.desk import at_once, order, work
from tests.world import World

pytestmark = pytest.mark.django_db(transaction=True)

SECONDS = 60.0


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


@pytest.fixture
def made(world: World, engine: CountingEngine) -> Job:
    cards.publish(engine.card)
    job = order(world.owner, "One.")
    work(engine)
    return job


def file_of(audio: Path, job: Job) -> Path:
    digest = Rendering.objects.get(jobs=job).digest
    return next(path for path in audio.rglob(f"{digest}*") if path.is_file())


def hear(world: World, speech_id: str, engine: CountingEngine) -> tuple[int, bytes]:
    """The audio by its id, while a worker is there."""
    heard: list[tuple[int, bytes]] = []

    def ask() -> None:
        answer = Client(headers=world.owner.headers).get(f"/v1/speech/{speech_id}/audio")
        heard.append((answer.status_code, answer.getvalue()))

    def work_until_heard() -> None:
        ends_at = time.monotonic() + SECONDS
        while not heard and time.monotonic() < ends_at:
            work(engine)

    errors = [error for error in at_once([ask, work_until_heard]) if error]
    assert not errors
    return heard[0]


@pytest.mark.parametrize("damage", [Path.unlink, cut_short])
@pytest.mark.parametrize("kind", ["job", "entry"])
def test_its_id_goes_on_working(made, world, engine, audio, damage, kind):
    entry = Entry.objects.get(kind="rendition")
    speech_id = made.public_id if kind == "job" else public_id("ent", entry.id)
    whole = file_of(audio, made).read_bytes()
    damage(file_of(audio, made))
    assert [hear(world, speech_id, engine) for _ in range(2)] == [(200, whole)] * 2
    assert Rendering.objects.count() == 2
    assert Entry.objects.get(kind="rendition").id == entry.id


def test_a_job_keeps_to_the_sound_that_replaced_its_own(made, world, engine, audio):
    """Where the engine never says it twice alike, and the cache has a newer sound that is whole."""
    Rendering.objects.filter(jobs=made).update(digest="0" * 64)
    assert hear(world, made.public_id, engine)[0] == 200
    assert Rendering.objects.get(jobs=made).digest == Entry.objects.get(kind="rendition").digest
    assert Rendering.objects.count() == 1


def test_a_bypassing_job_leaves_nothing_in_the_cache(made, world, engine, audio):
    bypassing = order(world.owner, "Two.", cache=CacheMode.BYPASS)
    work(engine)
    file_of(audio, bypassing).unlink()
    assert hear(world, bypassing.public_id, engine)[0] == 200
    assert not Entry.objects.filter(text="Two.").exists()
    assert not Rendering.objects.filter(state__in=OPEN).exists()
