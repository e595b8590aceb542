"""What the adapter promises beyond the contract, over upstream's real code: clones, instructions, pieces, failures."""

from __future__ import annotations

import logging
import threading

import numpy as np
import pytest

from synth.engines.cosyvoice import CosyVoice
from synth.errors import Retryable
from tests.engines_torch.cosyvoice import VERSIONS, Tiny, reference, said, tiny
from tests.synth.engines.speaking import SENTENCES

__all__ = ["tiny"]


@pytest.fixture(params=VERSIONS)
def engine(request: pytest.FixtureRequest, tiny: Tiny) -> CosyVoice:
    return tiny.engine(request.param)


@pytest.fixture(params=VERSIONS)
def streaming(request: pytest.FixtureRequest, tiny: Tiny) -> CosyVoice:
    return tiny.engine(request.param, stream="yes")


@pytest.mark.parametrize("transcript", ["", "希望你好。"])
def test_a_reference_speaks_every_language(engine: CosyVoice, transcript: str) -> None:
    like = reference(transcript=transcript)
    assert engine.card.cloning is not None
    for language in engine.card.cloning.languages:
        segment = said(engine, SENTENCES[language], like=like, language=language)
        pcm = engine.synthesize(segment, {like.fingerprint: like})
        assert pcm.duration > 0.5
        assert np.array_equal(pcm.samples, engine.synthesize(segment, {like.fingerprint: like}).samples)


def test_two_references_are_two_sounds_and_each_is_worked_out_once(
    engine: CosyVoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    add = engine._upstream.cosyvoice.add_zero_shot_spk
    monkeypatch.setattr(
        engine._upstream.cosyvoice, "add_zero_shot_spk", lambda *given: (heard.append(given[1]), add(*given))
    )
    likes = [reference(3.5), reference(4.5)]
    known = {like.fingerprint: like for like in likes}
    made = [engine.synthesize(said(engine, SENTENCES["zh"], like=like), known).samples for like in likes * 2]
    assert len(heard) == 2
    assert not np.array_equal(made[0], made[1])
    assert np.array_equal(made[0], made[2])
    assert np.array_equal(made[1], made[3])


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
def test_references_of_any_rate_are_taken(tiny: Tiny, rate: int) -> None:
    engine, like = tiny.engine(1), reference(3.2 + rate / 1e6, rate=rate)
    assert engine.synthesize(said(engine, SENTENCES["zh"], like=like), {like.fingerprint: like}).duration > 0.5


@pytest.mark.parametrize("version", [2, 3])
def test_an_instruction_is_heard_with_a_known_speaker(
    tiny: Tiny, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The random model does not obey it, but it must reach it: its prompt decides what the model draws."""
    engine, like = tiny.engine(version), reference()
    prompts: list[int] = []
    tts = engine._upstream.model.tts
    monkeypatch.setattr(
        engine._upstream.model, "tts", lambda **given: (prompts.append(given["prompt_text"].shape[1]), tts(**given))[1]
    )
    for wish in ("calm", "as calmly as you possibly can"):
        options = (("instruction", wish),)
        engine.synthesize(said(engine, SENTENCES["zh"], like=like, options=options), {like.fingerprint: like})
    assert prompts[1] - prompts[0] == len("as calmly as you possibly can") - len("calm")


def test_the_instruct_model_obeys_in_its_own_voices(tiny: Tiny) -> None:
    options = {**tiny.options, "model_dir": str(tiny.model_dir(1)), "variant": "instruct"}
    engine = CosyVoice(threads=1, options=options)
    segment = said(engine, SENTENCES["zh"], options=(("instruction", "A calm narrator."),))
    assert engine.synthesize(segment).duration > 0.5


def test_pieces_come_before_the_end_and_are_the_whole(streaming: CosyVoice) -> None:
    text = SENTENCES["zh"] * 6
    pieces = [piece.samples for piece in streaming.stream(said(streaming, text), {})]
    assert len(pieces) > 1
    assert sum(map(len, pieces)) / streaming.card.sample_rate > 5
    again = [len(piece.samples) for piece in streaming.stream(said(streaming, text), {})]
    assert again == [len(piece) for piece in pieces], "what streaming changed in the model is put back"


@pytest.mark.parametrize("stream", ["no", "yes"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_failure_in_upstreams_thread_is_told(
    tiny: Tiny, version: int, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unwatched it would leave a streaming consumer waiting for ever, and any other with half a sentence."""
    loaded = tiny.engine(version, stream=stream)
    language_model = loaded._upstream.model.llm
    inference = language_model.inference

    def failing(**given: object) -> object:
        for number, token in enumerate(inference(**given)):
            if number == 10:
                raise RuntimeError("sampling reaches max_trials 100")
            yield token

    monkeypatch.setattr(language_model, "inference", failing)
    with pytest.raises(Retryable) as caught:
        loaded.synthesize(said(loaded, SENTENCES["zh"]))
    assert caught.value.code == "engine_error"
    monkeypatch.undo()
    assert loaded.synthesize(said(loaded, SENTENCES["zh"])).duration > 0.5


def test_out_of_memory_is_told_as_such_and_passes(engine: CosyVoice, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    flow, failures = engine._upstream.model.flow, iter([True])
    inference = flow.inference

    def scarce(**given: object) -> object:
        if next(failures, False):
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return inference(**given)

    monkeypatch.setattr(flow, "inference", scarce)
    with pytest.raises(Retryable) as caught:
        engine.synthesize(said(engine, SENTENCES["zh"]))
    assert caught.value.code == "out_of_memory"
    engine.release_memory()
    assert engine.synthesize(said(engine, SENTENCES["zh"])).duration > 0.5


def test_a_consumer_that_goes_away_leaves_no_thread(streaming: CosyVoice) -> None:
    before = threading.active_count()
    pieces = streaming.stream(said(streaming, SENTENCES["zh"] * 8), {})
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    assert streaming._upstream.model.tts_speech_token_dict == {}


def test_nothing_of_the_text_is_logged(engine: CosyVoice, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        engine.synthesize(said(engine, SENTENCES["zh"]))
    assert [record.message for record in caplog.records if "synthesis" in record.message] == []


def test_the_models_directory_is_as_it_was(engine: CosyVoice) -> None:
    directory = engine._place.model_dir
    before = {path: path.stat().st_mtime_ns for path in directory.rglob("*")}
    like = reference(3.3)
    engine.synthesize(said(engine, SENTENCES["zh"], like=like), {like.fingerprint: like})
    assert {path: path.stat().st_mtime_ns for path in directory.rglob("*")} == before
