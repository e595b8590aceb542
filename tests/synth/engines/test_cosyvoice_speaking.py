"""How the adapter speaks through upstream's odd habits: seeds, pieces, failures inside its thread, and no sound."""

from __future__ import annotations

import threading
import time
import weakref

import numpy as np
import pytest

from synth.engines.base import DeviceEngine, FrugalEngine, UnloadableEngine
from synth.engines.cosyvoice import CosyVoice
from synth.errors import Permanent, Retryable, WorkError
from tests.synth.engines.cosyvoice import SENTENCE, Double, double, reference, said

__all__ = ["double"]
WITHIN = 20.0


def failure(engine: CosyVoice, text: str, **manner: float) -> WorkError:
    with pytest.raises(WorkError) as caught:
        engine.synthesize(said(engine, text, **manner))
    return caught.value


def test_equal_segments_give_equal_samples_and_seeds_differ(double: Double) -> None:
    engine = double.load()
    default, one, again, two = (engine.synthesize(said(engine, seed=seed)).samples for seed in (None, 1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, two)
    assert not np.array_equal(default, one)
    assert np.array_equal(default, engine.synthesize(said(engine)).samples)


def test_a_seed_gives_the_same_sound_before_and_after_a_reference_is_known(double: Double) -> None:
    engine = double.load(name="CosyVoice-300M")
    like = reference(transcript="你好。")
    segment = said(engine, fingerprint=like.fingerprint, seed=5)
    first = engine.synthesize(segment, {like.fingerprint: like}).samples
    assert np.array_equal(first, engine.synthesize(segment, {like.fingerprint: like}).samples)


def test_speed_divides_the_duration(double: Double) -> None:
    engine = double.load(stream="yes")
    normal = engine.synthesize(said(engine)).duration
    assert engine.synthesize(said(engine, speed=2.0)).duration == pytest.approx(normal / 2, rel=0.01)
    assert engine.synthesize(said(engine, speed=0.5)).duration == pytest.approx(normal * 2, rel=0.01)


def test_speed_is_asked_of_upstream_without_streaming_alone(double: Double) -> None:
    engine = double.load(stream="yes")
    engine.synthesize(said(engine, speed=1.5))
    engine.synthesize(said(engine))
    assert [call["stream"] for call in double.asked] == [False, True]


def test_without_streaming_a_piece_is_a_sentence(double: Double) -> None:
    engine = double.load()
    segment = said(engine, "今天天气很好。我们去公园。")
    pieces = [piece.samples for piece in engine.stream(segment, {})]
    assert len(pieces) == 2
    assert np.array_equal(np.concatenate(pieces), engine.synthesize(segment).samples)


@pytest.mark.parametrize("family", ["v1", "v2"])
def test_with_streaming_pieces_come_while_the_rest_is_being_made(double: Double, family: str) -> None:
    engine = double.load(family, stream="yes")
    segment = said(engine, SENTENCE * 3)
    first, *others = [len(piece.samples) for piece in engine.stream(segment, {})]
    assert len(others) > 1
    assert first == round(8 * 0.1 * engine.card.sample_rate), "the first one is as short as if nothing had run before"
    assert [len(piece.samples) for piece in engine.stream(segment, {})] == [first, *others]


@pytest.mark.parametrize("stream", ["yes", "no"])
def test_a_failure_inside_upstreams_thread_neither_hangs_nor_gives_half_a_sentence(double: Double, stream: str) -> None:
    """Left alone, it leaves a streaming consumer waiting for ever, and any other with the tokens made so far."""
    engine = double.load(stream=stream)
    started = time.monotonic()
    error = failure(engine, "please fail inside now")
    assert time.monotonic() - started < WITHIN
    assert isinstance(error, Retryable)
    assert error.code == "engine_error"
    assert "RuntimeError at model.py" in error.detail
    assert "please" not in str(error), "upstream's words may hold the text"
    assert engine.synthesize(said(engine)).duration > 1


def test_out_of_memory_is_told_as_such_and_the_next_run_finds_nothing_of_it(double: Double) -> None:
    engine = double.load()
    error = failure(engine, "an oom once and no more")
    assert isinstance(error, Retryable)
    assert error.code == "out_of_memory"
    engine.release_memory()
    assert engine.synthesize(said(engine, "an oom once and no more")).duration > 1


def test_out_of_memory_after_the_first_piece_does_not_say_it_twice(double: Double) -> None:
    engine = double.load()
    pieces = engine.stream(said(engine, "a first sentence. an oom inside."), {})
    next(pieces)
    with pytest.raises(Retryable, match="out_of_memory"):
        next(pieces)


def test_no_sound_at_all_and_samples_that_are_no_numbers_may_be_tried_with_another_seed(double: Double) -> None:
    engine = double.load()
    for text in ("say nothing at all please", "there are no numbers here"):
        error = failure(engine, text)
        assert isinstance(error, Retryable)
        assert error.code == "no_speech"


def test_a_consumer_that_goes_away_leaves_no_thread_and_no_notes(double: Double) -> None:
    engine = double.load(stream="yes")
    before = threading.active_count()
    pieces = engine.stream(said(engine, f"slowly {SENTENCE * 5}"), {})
    next(pieces)
    assert threading.active_count() > before
    pieces.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    assert engine._upstream.model.tts_speech_token_dict == {}


@pytest.mark.parametrize("text", ["", "   ", "。", "……！？", "😀", "“ ”", "（）", " \n\t"])
def test_text_without_a_sound_is_refused_before_upstream_is_asked(double: Double, text: str) -> None:
    engine = double.load()
    assert failure(engine, text).code == "unspeakable_text"
    assert double.asked == []


@pytest.mark.parametrize("text", ["<|en|>hello", "你好<|endofprompt|>再见", "broken |> mark", "<| half"])
def test_control_tokens_in_a_text_are_refused(double: Double, text: str) -> None:
    engine = double.load()
    error = failure(engine, text)
    assert isinstance(error, Permanent)
    assert error.code == "unspeakable_text"


def test_letters_of_a_script_that_it_does_not_read_are_refused(double: Double) -> None:
    engine = double.load()
    assert failure(engine, f"{SENTENCE} привет").code == "unspeakable_text"
    assert engine.synthesize(said(engine, f"{SENTENCE} hello 안녕 カタカナ ひらがな １２３")).duration > 1


def test_a_speaker_that_upstream_lost_is_a_permanent_failure(double: Double) -> None:
    engine = double.load()
    segment = said(engine)
    del engine._upstream.speakers[segment.manner.voice]["embedding"]
    with pytest.raises(Permanent) as caught:
        engine.synthesize(segment)
    assert caught.value.code == "unknown_voice"


@pytest.mark.parametrize(
    ("manner", "code"),
    [
        ({"voice": "nobody"}, "unknown_voice"),
        ({"language": "fr", "voice": "中文女"}, "unsupported_language"),
        ({"language": "yue", "voice": "中文女"}, "unsupported_language"),
        ({"speed": 2.1}, "unsupported_speed"),
        ({"duration": 3.0}, "unsupported_control"),
        ({"options": (("instruction", "happily"),)}, "unsupported_control"),
        ({"options": (("temperature", "2"),)}, "unsupported_control"),
    ],
)
def test_what_the_card_does_not_offer_is_refused(double: Double, manner: dict[str, object], code: str) -> None:
    engine = double.load()
    with pytest.raises(Permanent) as caught:
        engine.synthesize(said(engine, **manner))  # type: ignore[arg-type]
    assert caught.value.code == code
    assert double.asked == []


def test_it_says_where_it_runs_and_lets_go_of_its_model(double: Double) -> None:
    engine = double.load()
    assert isinstance(engine, FrugalEngine)
    assert isinstance(engine, DeviceEngine)
    assert isinstance(engine, UnloadableEngine)
    assert (engine.device, engine.device_memory()) == ("cpu", 0)
    model = weakref.ref(engine._upstream.model)
    engine.unload()
    assert model() is None
