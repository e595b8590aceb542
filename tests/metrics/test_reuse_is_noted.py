"""Misses note the sentences that were stored, and those who join work that is under way; runs note their time."""

from datetime import date

import pytest

from synth import engine_time
from synth.engine_time import Use
from synth.models import EngineDay, Entry
from synth.service.orders import segments_of
from synth.spec import SpeechRequest
from tests.cards import published_cards  # noqa: F401 - a fixture
from tests.finished import _request as read
from tests.finished import queue
from tests.synth.savings.world import MONDAY
from tests.world import Member, World, world  # noqa: F401 - a fixture

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("published_cards")]
TEXT = "The first sentence. The second one. The first sentence."


def noted() -> Use:
    return sum(engine_time._recorder._notes.values(), Use())


def store_segments(member: Member, request: SpeechRequest, texts: set[str]) -> None:
    from django.utils import timezone

    from synth.keys import segment_key

    for segment in segments_of(request.spec, max_units=400):
        if segment.text in texts:
            Entry.objects.update_or_create(
                tenant=member.tenant, kind=Entry.Kind.SEGMENT, key=segment_key(segment),
                defaults={
                    "engine": "counting", "model_version": "counting-1", "voice": "counting_a", "text": segment.text,
                    "digest": "0" * 64, "format": "flac", "media_type": "audio/flac", "size": 1, "duration": 1.0,
                    "sample_rate": 24000, "made_at": timezone.now(),
                },
            )  # fmt: skip


def test_a_sentence_that_stands_there_twice_is_spoken_once(world: World) -> None:  # noqa: F811
    queue(world.owner, {"text": TEXT})
    assert noted() == Use(reused_characters=len("The first sentence."))


def test_a_stored_sentence_is_reused(world: World) -> None:  # noqa: F811
    store_segments(world.owner, read(world.owner, {"text": TEXT}), {"The first sentence."})
    queue(world.owner, {"text": TEXT})
    assert noted() == Use(reused_characters=2 * len("The first sentence."))


def test_whoever_joins_needs_no_run_of_its_own(world: World) -> None:  # noqa: F811
    queue(world.owner, {"text": "One sentence."})
    queue(world.owner, {"text": "One sentence."})
    assert noted() == Use(reused_characters=len("One sentence."))


def test_notes_of_several_processes_add_up(world: World) -> None:  # noqa: F811
    day, use = (world.owner.tenant.id, "kokoro", MONDAY), Use(runs=1, characters=10, engine_seconds=0.5)
    engine_time._recorder.write({day: use})
    engine_time._recorder.write({day: use + Use(reused_characters=7)})
    row = EngineDay.objects.get()
    assert (row.runs, row.characters, row.engine_seconds, row.reused_characters) == (2, 20, 1.0, 7)


def test_what_is_noted_of_a_tenant_that_is_gone_holds_nothing_up(world: World) -> None:  # noqa: F811
    kept = (world.owner.tenant.id, "kokoro", MONDAY)
    gone = (world.owner.key.id, "kokoro", date(2026, 11, 1))
    engine_time._recorder.write({gone: Use(runs=1), kept: Use(runs=1)})
    assert EngineDay.objects.get().tenant_id == world.owner.tenant.id
