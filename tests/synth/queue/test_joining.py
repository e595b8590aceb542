"""What requests share and what they do not: joining, priorities, bypass, refresh, sentences that are known."""

from __future__ import annotations

from datetime import timedelta

import pytest

from synth.audio.pcm import Pcm
from synth.errors import SpeechFailed
from synth.models import Entry, Job, Rendering, Synthesis
from synth.models.states import Priority
from synth.service.submission import NEGATIVE_TTL
from synth.types import CacheMode
from tests.engines.counting import CountingEngine
from tests.synth.queue.desk import order, said, speak_all, states, work

pytestmark = pytest.mark.django_db


class FallsSilent(CountingEngine):
    """Speaks, until it is told to be silent."""

    silent = False

    def synthesize(self, segment):
        pcm = super().synthesize(segment)
        return Pcm(pcm.samples * 0, pcm.sample_rate) if self.silent else pcm


def priorities() -> dict[str, int]:
    return {row.segment["text"]: row.priority for row in Synthesis.objects.all()}


def test_an_interactive_request_that_joins_raises_the_priority(world):
    order(world.owner, "One. Two.", priority=Priority.BATCH)
    order(world.owner, "One. Two.")
    assert priorities() == {"One.": 0, "Two.": 0}
    assert Rendering.objects.get().priority == 0


def test_a_shared_sentence_is_raised_alone(world):
    order(world.owner, "One. Two.", priority=Priority.BATCH)
    order(world.owner, "One. Three.")
    assert priorities() == {"One.": 0, "Two.": 1, "Three.": 0}


def test_a_batch_request_that_joins_lowers_nothing(world):
    order(world.owner, "One.")
    order(world.owner, "One.", priority=Priority.BATCH)
    assert (priorities(), Rendering.objects.get().priority) == ({"One.": 0}, 0)


def test_tenants_share_nothing(world, engine, log):
    order(world.owner, "One.")
    order(world.stranger, "One.")
    work(engine)
    assert said(log) == ["One.", "One."]
    assert Entry.objects.filter(kind="segment").values("tenant").distinct().count() == 2


def test_a_sentence_that_a_text_repeats_is_said_once(world, engine, log):
    job = order(world.owner, "Ha ha. Ha ha. Ha ha.")
    work(engine)
    assert (said(log), job.rendering.parts.count(), states(Job)) == (["Ha ha."], 3, ["succeeded"])


def test_another_format_is_made_without_the_engine(world, engine, log):
    order(world.owner, "One. Two.")
    work(engine)
    other = order(world.owner, "One. Two.", output="flac")
    assert other.rendering.state == "queued"
    work(engine)
    assert (len(said(log)), states(Job)) == (2, ["succeeded"] * 2)


def test_a_known_sentence_is_not_said_again_in_another_text(world, engine, log):
    order(world.owner, "One. Two.")
    work(engine)
    order(world.owner, "Two. Three.")
    work(engine)
    assert sorted(said(log)) == ["One.", "Three.", "Two."]


def test_bypass_neither_joins_nor_stores(world, engine, log):
    order(world.owner, "One.")
    bypassed = [order(world.owner, "One.", cache=CacheMode.BYPASS) for _ in range(2)]
    work(engine)
    assert (len(said(log)), states(Job)) == (3, ["succeeded"] * 3)
    assert sorted(Entry.objects.values_list("kind", flat=True)) == ["rendition", "segment"]
    assert Rendering.objects.filter(jobs__in=bypassed, entry_id=None).exclude(digest="").count() == 2


def test_bypass_does_not_read(world, engine, log):
    order(world.owner, "One.")
    work(engine)
    order(world.owner, "One.", cache=CacheMode.BYPASS)
    work(engine)
    assert len(said(log)) == 2


def test_equal_refreshes_share_one_run(world, engine, log):
    order(world.owner, "One.")
    work(engine)
    jobs = [order(world.owner, "One.", cache=CacheMode.REFRESH) for _ in range(2)]
    assert jobs[0].rendering_id == jobs[1].rendering_id
    work(engine)
    assert (len(said(log)), states(Job)) == (2, ["succeeded"] * 3)


def test_a_refresh_swaps_the_entry_and_keeps_its_id(world, engine):
    order(world.owner, "One.")
    work(engine)
    before = Entry.objects.get(kind="rendition")
    order(world.owner, "One.", cache=CacheMode.REFRESH)
    speak_all(engine)
    assert Entry.objects.get(kind="rendition").made_at == before.made_at
    work(engine)
    after = Entry.objects.get(kind="rendition")
    assert after.id == before.id
    assert after.made_at > before.made_at


def test_a_refresh_that_fails_the_check_keeps_the_old_sound(world, log):
    engine = FallsSilent()
    order(world.owner, "One.")
    work(engine)
    before = list(Entry.objects.order_by("id").values())
    engine.silent = True
    refresh = order(world.owner, "One.", cache=CacheMode.REFRESH)
    work(engine)
    refresh.refresh_from_db()
    assert refresh.state == "failed"
    assert list(Entry.objects.order_by("id").values()) == before


def test_a_failure_that_would_repeat_is_remembered_for_seconds(world, engine, log):
    order(world.owner, "One fail-permanently.")
    work(engine)
    with pytest.raises(SpeechFailed) as failed:
        order(world.owner, "One fail-permanently.")
    assert (failed.value.code, failed.value.status, len(said(log))) == ("told_to_fail", 422, 1)
    ended = Rendering.objects.get()
    Rendering.objects.update(ended_at=ended.ended_at - NEGATIVE_TTL - timedelta(seconds=1))
    order(world.owner, "One fail-permanently.")
    work(engine)
    assert len(said(log)) == 2


def test_a_failure_that_may_pass_is_not_remembered(world, engine, log):
    order(world.owner, "One fail-transiently.")
    for _ in range(3):
        Synthesis.objects.update(not_before=None)
        speak_all(engine)
    assert states(Job) == ["failed"]
    assert order(world.owner, "One fail-transiently.").state == "queued"
