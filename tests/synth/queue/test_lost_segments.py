"""A stored sentence that storage has lost or spoilt is found when a rendition needs it, and is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth import cards
from synth.models import EngineCardRow, Entry, Job
from synth.types import CacheMode
from tests.synth.queue.desk import order, said, speak_all, states, work

pytestmark = pytest.mark.django_db


def segment_file(audio: Path, text: str) -> Path:
    digest = Entry.objects.get(kind="segment", text=text).digest
    return next(path for path in audio.rglob(f"{digest}*") if path.is_file())


@pytest.fixture
def made(world, engine, log):
    cards.publish(engine.card)
    order(world.owner, "One. Two.")
    work(engine)
    return world


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def alter_its_sample_rate(path: Path) -> None:
    """Which no checksum inside of a FLAC file covers."""
    data = bytearray(path.read_bytes())
    data[19] ^= 0x10
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [Path.unlink, cut_short, alter_its_sample_rate])
def test_it_is_made_again_alone(made, engine, audio, log, damage):
    damage(segment_file(audio, "Two."))
    order(made.owner, "One. Two.", output="flac")
    work(engine)
    assert said(log) == ["One.", "Two.", "Two."]
    assert states(Job) == ["succeeded"] * 2
    assert segment_file(audio, "Two.").exists()


def test_renditions_that_lost_the_same_sentence_share_its_making(made, engine, audio, log):
    segment_file(audio, "Two.").unlink()
    order(made.owner, "One. Two.", output="flac")
    order(made.owner, "Two. One.")
    work(engine)
    assert said(log) == ["One.", "Two.", "Two."]
    assert states(Job) == ["succeeded"] * 3


def test_a_sentence_lost_with_its_entry_is_made_again(made, engine, audio, log):
    segment_file(audio, "Two.").unlink()
    order(made.owner, "One. Two.", output="flac")
    Entry.objects.filter(kind="segment", text="Two.").delete()
    work(engine)
    assert (said(log)[2:], states(Job)) == (["Two."], ["succeeded"] * 2)


def test_a_lost_sentence_of_a_version_without_a_card_is_an_error_and_not_a_loop(made, engine, audio, log):
    segment_file(audio, "Two.").unlink()
    order(made.owner, "One. Two.", output="flac")
    EngineCardRow.objects.all().delete()
    work(engine)
    assert states(Job) == ["failed", "succeeded"]
    assert Job.objects.get(state="failed").error_code == "segments_lost"


def test_a_bypassing_rendition_makes_a_lost_sentence_for_itself_alone(made, engine, audio, log):
    bypassing = order(made.owner, "Two.", cache=CacheMode.BYPASS)
    speak_all(engine)
    lost = next(path for path in audio.rglob(f"{bypassing.rendering.parts.get().digest}*") if path.is_file())
    lost.unlink()
    Entry.objects.all().delete()
    work(engine)
    assert (states(Job), Entry.objects.count()) == (["succeeded"] * 2, 0)
