"""Which of upstream's methods speaks, and what stands around the text, for each model, voice and language."""

from __future__ import annotations

import pytest

from synth.errors import Permanent
from tests.synth.engines.cosyvoice import SAVED, SENTENCE, Double, double, reference, said

__all__ = ["double"]

THIRD = "You are a helpful assistant.<|endofprompt|>"
NAMES = {"v1": "CosyVoice-300M", "v2": "CosyVoice2", "v3": "CosyVoice3"}


def asked(double: Double, family: str, *, language: str, told: str = "", at: str = "zh", wish: str = "") -> tuple:
    """What the model is given for a cloned voice: the prompt, the text, and whether it hears the reference's tokens."""
    engine = double.load(family, name=NAMES[family])
    like = reference(language=at, transcript=told)
    options = (("instruction", wish),) if wish else ()
    segment = said(engine, SENTENCE, language=language, fingerprint=like.fingerprint, options=options)
    engine.synthesize(segment, {like.fingerprint: like})
    (call,) = double.asked
    return call["prompt"], call["text"], "llm_prompt_speech_token" in call


@pytest.mark.parametrize(
    ("family", "prompt"), [("v1", "你好，朋友."), ("v2", "你好，朋友."), ("v3", f"{THIRD}你好，朋友.")]
)
def test_a_reference_with_its_transcript_is_zero_shot(double: Double, family: str, prompt: str) -> None:
    assert asked(double, family, language="zh", told="你好，朋友") == (prompt, SENTENCE, True)


@pytest.mark.parametrize(
    ("family", "text"), [("v1", f"<|zh|>{SENTENCE}"), ("v2", SENTENCE), ("v3", f"{THIRD}{SENTENCE}")]
)
def test_a_reference_without_a_transcript_is_cross_lingual(double: Double, family: str, text: str) -> None:
    assert asked(double, family, language="zh") == ("", text, False)


def test_a_transcript_of_another_language_is_not_taken(double: Double) -> None:
    assert asked(double, "v1", language="ja", told="你好")[1:] == (f"<|ja|>{SENTENCE}", False)


def test_cantonese_is_tagged_or_asked_for(double: Double) -> None:
    assert asked(double, "v1", language="yue")[1] == f"<|yue|>{SENTENCE}"
    assert asked(double, "v2", language="yue")[0] == "用粤语说这句话<|endofprompt|>"
    assert asked(double, "v3", language="yue")[0] == f"{THIRD[:-15]} 请用广东话表达。<|endofprompt|>"


def test_a_cantonese_reference_with_its_transcript_needs_no_asking(double: Double) -> None:
    assert asked(double, "v2", language="yue", at="yue", told="你好")[0] == "你好."


@pytest.mark.parametrize(
    ("family", "prompt"),
    [
        ("v2", "用开心的语气说<|endofprompt|>"),
        ("v3", "You are a helpful assistant. 用开心的语气说<|endofprompt|>"),
    ],
)
def test_an_instruction_reaches_the_model_with_a_known_speaker(double: Double, family: str, prompt: str) -> None:
    """Upstream passes over the instruction of the call when it is given the name of a speaker."""
    told = asked(double, family, language="zh", told="你好", wish="用开心的语气说")
    assert told == (prompt, SENTENCE, False)


def test_the_instruct_model_takes_instructions_in_its_own_voices(double: Double) -> None:
    engine = double.load(name="CosyVoice-300M-Instruct")
    engine.synthesize(said(engine, options=(("instruction", "A calm narrator."),)))
    (call,) = double.asked
    assert call["prompt"] == "A calm narrator.<|endofprompt|>"
    assert "llm_embedding" not in call


def test_an_instruction_with_control_tokens_is_refused(double: Double) -> None:
    engine = double.load(name="CosyVoice-300M-Instruct")
    with pytest.raises(Permanent):
        engine.synthesize(said(engine, options=(("instruction", "calm<|endofprompt|>"),)))


def test_the_first_model_takes_no_instruction_for_a_clone(double: Double) -> None:
    with pytest.raises(Permanent):
        asked(double, "v1", language="zh", wish="calm")


def test_a_model_of_presets_clones_nobody(double: Double) -> None:
    engine = double.load(name="CosyVoice-300M-SFT")
    like = reference()
    with pytest.raises(Permanent) as caught:
        engine.synthesize(said(engine, fingerprint=like.fingerprint), {like.fingerprint: like})
    assert caught.value.code == "unsupported_voice"


def test_a_saved_clone_is_spoken_by_its_name_and_takes_instructions(double: Double) -> None:
    engine = double.load("v2", name="CosyVoice2", voices={"mine": SAVED})
    plain, yue, asked_for = (
        said(engine, voice="mine"),
        said(engine, voice="mine", language="yue"),
        said(engine, voice="mine", options=(("instruction", "calm"),)),
    )
    for segment in (plain, yue, asked_for):
        engine.synthesize(segment)
    prompts = [call["prompt"] for call in double.asked]
    assert prompts == ["<|endofprompt|>saved", "用粤语说这句话<|endofprompt|>", "calm<|endofprompt|>"]
    assert set(engine._upstream.speakers) == {"mine"}


def test_a_preset_of_the_third_model_hears_the_end_of_a_prompt(double: Double) -> None:
    engine = double.load("v3", name="CosyVoice3")
    engine.synthesize(said(engine))
    (call,) = double.asked
    assert call["text"] == THIRD + SENTENCE


def test_japanese_reaches_the_third_model_as_katakana(double: Double) -> None:
    pytest.importorskip("pyopenjtalk")
    engine = double.load("v3", name="CosyVoice3")
    engine.synthesize(said(engine, "歴史的世界においては、過去がある。", language="ja"))
    (call,) = double.asked
    assert call["text"] == THIRD + "レキシ テキ セカイ ニ オイ テ ワ 、 カコ ガ アル 。"


def test_the_other_models_take_japanese_as_it_is_written(double: Double) -> None:
    engine = double.load("v2", name="CosyVoice2")
    engine.synthesize(said(engine, "過去がある。", language="ja"))
    assert double.asked[0]["text"] == "過去がある。"
