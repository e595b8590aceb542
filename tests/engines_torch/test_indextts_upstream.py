"""IndexTTS's adapter over upstream's own code and a tiny random checkpoint; REFRAIN_INDEXTTS_CODE names the checkout.

Random weights say nothing that anybody understands: what is tested is that every way through upstream's code is
taken as it wants, gives sound, and gives it again.
"""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from synth.engines import indextts
from synth.engines.base import pieces
from synth.errors import EngineUnavailable, Permanent, Retryable
from synth.types import Emotion, Pronunciation
from tests.plugin import TestRun
from tests.synth.engines import indextts_double as double
from tests.synth.engines.indextts_asking import said, segment

ANNA, BO, ANGRY = double.reference(200), double.reference(400), double.reference(900)
SHORT = "你好。"

pytestmark = [pytest.mark.timeout(1200)]


@pytest.fixture(scope="module", params=["2", "2.5"])
def world(
    request: pytest.FixtureRequest, test_run: TestRun, tmp_path_factory: pytest.TempPathFactory
) -> SimpleNamespace:
    pytest.importorskip("torch")
    code = test_run.developers.get("REFRAIN_INDEXTTS_CODE", "")
    if not code:
        pytest.skip("REFRAIN_INDEXTTS_CODE names no checkout: nothing of upstream's code was run")
    if code not in sys.path:
        sys.path.append(code)
    from tests.engines_torch import indextts_checkpoint

    directory = tmp_path_factory.mktemp("indextts") / "model"
    indextts_checkpoint.write(directory, request.param)
    options = {"code": code, "model_dir": str(directory), "device": "cpu"}
    engine = indextts.load(threads=1, options=options)
    return SimpleNamespace(release=request.param, directory=directory, options=options, engine=engine)


def test_the_card_tells_what_the_release_can_do(world: Any) -> None:
    card = world.engine.card
    assert card.model_version.startswith("sha256:")
    assert world.engine.device == "cpu"
    assert (card.speed is not None) == (world.release == "2.5")
    assert {"xing2", "ju2"} <= set(card.syllables)
    assert "text" not in card.emotion_ways


def test_voices_and_seeds_repeat_to_the_bit_whatever_was_said_between(
    world: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    engine = world.engine
    first = said(engine, ANNA, SHORT, seed=1)
    assert first.sample_rate == 22_050
    assert first.samples.dtype == np.float32
    assert np.isfinite(first.samples).all()
    assert 0 < np.abs(first.samples).max() <= 1
    other = said(engine, BO, SHORT, seed=1)
    assert np.array_equal(said(engine, ANNA, SHORT, seed=1).samples, first.samples)
    fresh = indextts.IndexTTS(_same_model(engine))  # which has to work the reference out again
    assert np.array_equal(said(fresh, ANNA, SHORT, seed=1).samples, first.samples)
    assert not np.array_equal(other.samples, first.samples)
    assert not np.array_equal(said(engine, ANNA, SHORT, seed=2).samples, first.samples)
    out, _ = capfd.readouterr()
    assert out == ""


def _same_model(engine: Any) -> Any:
    engine._voices.forget_all()
    numbers, release, vocabulary = engine._numbers, engine._release, engine._vocabulary
    return SimpleNamespace(
        model=engine._model,
        release=release,
        numbers=numbers,
        vocabulary=vocabulary,
        version=engine.card.model_version,
        device="cpu",
        reads_emotion=False,
        voices_kept=4,
    )


def test_each_emotion_changes_the_sound(world: Any) -> None:
    emotions = (
        None,
        Emotion(name="sad"),
        Emotion(vector=(0, 0.4, 0, 0, 0, 0, 0, 0.3)),
        Emotion(reference=ANGRY.fingerprint, strength=0.8),
    )
    sounds = [said(world.engine, ANNA, SHORT, seed=3, emotion=how, others=(ANGRY,)).samples for how in emotions]
    assert len({sound.tobytes() for sound in sounds}) == len(emotions)


def test_pinyin_reaches_the_tokens(world: Any) -> None:
    pronounced = (Pronunciation("行", "pinyin", "hang2"), Pronunciation("居", "pinyin", "ju2"))
    assert said(world.engine, ANNA, "银行居。", pronunciations=pronounced).duration > 0
    with pytest.raises(Permanent, match="xang2"):
        said(world.engine, ANNA, "银行。", pronunciations=(Pronunciation("行", "pinyin", "xang2"),))


def test_a_character_without_a_token_is_refused_where_tokens_are_characters(world: Any) -> None:
    if world.release == "2.5":
        pytest.skip("its tokens are bytes")
    with pytest.raises(Permanent) as caught:
        said(world.engine, ANNA, "你好龘。")
    assert caught.value.code == "unspeakable_text"


def test_speed_stretches_in_two_and_a_half(world: Any) -> None:
    if world.release == "2":
        with pytest.raises(Permanent):
            said(world.engine, ANNA, SHORT, speed=2.0)
        return
    slow, normal = (said(world.engine, ANNA, SHORT, seed=4, speed=speed).duration for speed in (0.5, 1.0))
    assert slow == pytest.approx(2 * normal, rel=0.1)


def test_a_long_text_comes_in_pieces_that_are_the_whole(world: Any) -> None:
    text = "今天我们去公园散步吧，" * 14
    asked = segment(ANNA, text, seed=5)
    parts = [part.samples for part in pieces(world.engine, asked, {ANNA.fingerprint: ANNA})]
    assert len(parts) > 1
    assert np.array_equal(np.concatenate(parts), said(world.engine, ANNA, text, seed=5).samples)


def test_a_model_that_says_nothing_is_told_as_such(world: Any) -> None:
    import torch

    gpt = world.engine._model.gpt
    before = gpt.mel_head.bias.detach().clone()
    try:
        with torch.no_grad():
            gpt.mel_head.bias[gpt.stop_mel_token] = 1e4
        with pytest.raises(Retryable) as caught:
            said(world.engine, ANNA, SHORT)
    finally:
        with torch.no_grad():
            gpt.mel_head.bias.copy_(before)
    assert caught.value.code == "no_speech"


def test_a_checkpoint_whose_keys_do_not_fit_is_refused(world: Any) -> None:
    import torch

    file = world.directory / "s2mel.pth"
    good = file.read_bytes()
    try:
        state = torch.load(file)
        for name in [name for name in state["net"]["cfm"] if ".transformer." in name]:
            del state["net"]["cfm"][name]
        torch.save(state, file)
        with pytest.raises(EngineUnavailable, match=r"s2mel\.pth"):
            indextts.load(threads=1, options=world.options)
    finally:
        file.write_bytes(good)


def test_upstream_writes_no_reference_and_downloads_nothing(world: Any) -> None:
    assert not any(Path(world.engine._voices._folder.name).iterdir())
