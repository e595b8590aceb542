"""A sound that does not pass the check is made again with another seed, within one claim; then the sentence fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.test import override_settings

from synth import paces
from synth.audio.pace import LEAST_COUNT
from synth.engines.base import References
from synth.errors import Retryable
from synth.keys import rendition_key
from synth.models import EnginePace, Entry, Job, Synthesis
from synth.service.submission import submit
from synth.spec import SpeechRequest
from synth.types import Pcm, Segment
from tests.engines.counting import SAMPLE_RATE, CountingEngine, tone
from tests.synth.queue.desk import claim, order, speak_one, spec, work
from tests.world import Member

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

TEXT = "One sentence that is long enough."


class Moody(CountingEngine):
    """Its first runs are silent, or raise; `seeds` are those that it was told."""

    def __init__(self, *, bad: int = 0, error: Exception | None = None, **card: Any) -> None:
        super().__init__(threads=1)
        self.card = replace(self.card, **card)
        self.bad, self.error = bad, error
        self.seeds: list[int | None] = []

    def synthesize(self, segment: Segment) -> Pcm:
        self.seeds.append(segment.manner.seed)
        if len(self.seeds) > self.bad:
            return Pcm(tone(segment), SAMPLE_RATE)
        if self.error:
            raise self.error
        return Pcm(tone(segment) * 0, SAMPLE_RATE)


class Frugal(Moody):
    released = 0

    def release_memory(self) -> None:
        self.released += 1


def with_seed(member: Member, seed: int) -> Job:
    wanted = spec(TEXT)
    request = SpeechRequest(spec=replace(wanted, manner=replace(wanted.manner, seed=seed)))
    return submit(member.caller, request, key=rendition_key(request.spec), max_units=400, request_id="test")


def provenance() -> dict[str, Any]:
    return Entry.objects.get(kind="segment").provenance


def test_another_seed_is_drawn_and_told(world):
    order(world.owner, TEXT)
    key = Synthesis.objects.get().key
    engine = Moody(bad=2)
    row = speak_one(engine)
    assert (row.state, row.attempt, row.key) == ("succeeded", 1, key)
    first, *drawn = engine.seeds
    assert first is None  # a deterministic engine is first asked as the caller did
    assert len(set(drawn)) == 2
    assert None not in drawn
    assert (provenance()["seed"], provenance()["tries"]) == (drawn[-1], 3)


def test_the_seed_of_an_engine_that_is_never_the_same_is_drawn_at_once(world):
    order(world.owner, TEXT)
    engine = Moody(deterministic=False)
    speak_one(engine)
    assert engine.seeds == [provenance()["seed"]]
    assert provenance()["seed"] is not None


def test_after_the_last_try_the_sentence_fails_without_another_claim(world):
    order(world.owner, TEXT)
    engine = Moody(bad=9)
    row = speak_one(engine)
    job = Job.objects.get()
    assert (len(engine.seeds), row.state, job.error_code) == (3, "failed", "implausible_audio")
    assert "audio_silent" in row.error_detail
    assert Entry.objects.count() == 0


@pytest.mark.parametrize(("tries", "runs"), [(0, 1), (1, 2), (5, 6)])
def test_a_setting_bounds_the_tries(world, tries, runs):
    order(world.owner, TEXT)
    engine = Moody(bad=9)
    with override_settings(REFRAIN={**settings.REFRAIN, "QUALITY_TRIES": tries}):
        speak_one(engine)
    assert len(engine.seeds) == runs


def test_a_seed_of_the_caller_is_never_replaced(world):
    with_seed(world.owner, 7)
    engine = Moody(bad=1, deterministic=False)
    speak_one(engine)
    job = Job.objects.get()
    assert (engine.seeds, job.state, job.error_code) == ([7], "failed", "implausible_audio")
    assert job.rendering.error_repeats


def test_an_engine_without_seeds_is_tried_again_only_if_its_sounds_differ(world):
    order(world.owner, TEXT)
    same = Moody(bad=1, controls=frozenset(), deterministic=True)
    assert speak_one(same).state == "failed"
    order(world.owner, "Another one, which is long, too.")
    other = Moody(bad=1, controls=frozenset(), deterministic=False)
    assert speak_one(other).state == "succeeded"
    assert (same.seeds, other.seeds) == ([None], [None, None])
    assert (provenance()["seed"], provenance()["tries"]) == (None, 2)


def test_no_try_is_begun_that_would_run_past_the_deadline(world, monkeypatch):
    order(world.owner, TEXT)
    engine = Moody(bad=9)
    monkeypatch.setattr("synth.service.synthesis.end_this_process", lambda: None)
    with override_settings(REFRAIN={**settings.REFRAIN, "DEADLINE": 0.0001, "DEADLINE_FACTOR": 0.0}):
        speak_one(engine)
    assert len(engine.seeds) == 1


def _out_of_memory() -> Exception:
    """As torch calls its own."""
    return type("OutOfMemoryError", (RuntimeError,), {})("no room on the device")


@pytest.mark.parametrize("error", [MemoryError(), Retryable("", code="out_of_memory"), _out_of_memory()])
def test_out_of_memory_frees_memory_and_is_tried_once_more(world, error):
    order(world.owner, TEXT)
    engine = Frugal(bad=1, error=error)
    assert speak_one(engine).state == "succeeded"
    assert (engine.released, len(engine.seeds), provenance()["tries"]) == (1, 2, 1)


def test_out_of_memory_again_gives_the_sentence_back(world):
    order(world.owner, TEXT)
    engine = Frugal(bad=9, error=MemoryError())
    row = speak_one(engine)
    assert (row.state, row.error_code, len(engine.seeds)) == ("queued", "out_of_memory", 2)


def test_an_engine_that_cannot_free_memory_is_tried_once_more_all_the_same(world):
    order(world.owner, TEXT)
    engine = Moody(bad=1, error=MemoryError())
    assert (speak_one(engine).state, len(engine.seeds)) == ("succeeded", 2)


def test_other_errors_are_no_question_of_memory(world):
    order(world.owner, TEXT)
    engine = Frugal(bad=1, error=RuntimeError("no voice today"))
    assert speak_one(engine).error_code == "engine_error"
    assert (engine.released, len(engine.seeds)) == (0, 1)


class Piecewise(CountingEngine):
    """Gives its sound in pieces of a tenth of a second, for ever if told to."""

    endless = False
    rate = SAMPLE_RATE
    given = 0

    def stream(self, segment: Segment, references: References) -> Iterator[Pcm]:  # noqa: ARG002
        samples = tone(segment)
        while True:
            for at in range(0, len(samples), SAMPLE_RATE // 10):
                self.given += 1
                yield Pcm(samples[at : at + SAMPLE_RATE // 10], self.rate)
            if not self.endless:
                return


def test_pieces_are_one_sound(world, engine):
    order(world.owner, TEXT)
    assert speak_one(Piecewise()).state == "succeeded"
    in_pieces = Entry.objects.get(kind="segment").digest
    Entry.objects.all().delete()
    Synthesis.objects.all().update(state="queued", lease_until=None)
    assert speak_one(engine).digest == in_pieces


def test_an_engine_that_never_ends_is_stopped_once_it_is_too_long(world):
    order(world.owner, TEXT)
    engine = Piecewise()
    engine.endless = True
    with override_settings(REFRAIN={**settings.REFRAIN, "QUALITY_TRIES": 0}):
        row = speak_one(engine)
    assert (row.state, row.error_code) == ("failed", "implausible_audio")
    assert "audio_too_long" in row.error_detail
    assert engine.given < 200


def test_pieces_of_another_rate_are_an_error_of_the_engine(world):
    order(world.owner, TEXT)
    engine = Piecewise()
    engine.rate = 16_000
    assert speak_one(engine).error_code == "engine_error"


class Drawling(CountingEngine):
    """Four times slower than usual, unless it is told another seed."""

    def synthesize(self, segment: Segment) -> Pcm:
        samples = tone(segment)
        return Pcm(samples if segment.manner.seed else np.tile(samples, 4), SAMPLE_RATE)


def test_what_kept_sounds_took_is_learned_and_held_against_the_next(world, engine):
    for number in range(LEAST_COUNT):
        order(world.owner, f"The usual sentence {'abcdefghij'[number % 10] * (1 + number // 10)} of this engine.")
    work(engine)
    paces.flush()
    learned = EnginePace.objects.get()
    assert (learned.engine, learned.language, learned.count) == ("counting", "en", LEAST_COUNT)
    paces.forget()

    order(world.owner, TEXT)
    row = speak_one(Drawling())
    kept = Entry.objects.get(kind="segment", key=row.key)
    assert (kept.provenance["tries"], kept.duration < 3) == (2, True)


def test_before_it_knows_better_the_gate_lets_it_pass(world):
    order(world.owner, TEXT)
    speak_one(Drawling())
    assert (provenance()["tries"], Entry.objects.get(kind="segment").duration > 8) == (1, True)
    assert claim() is None
