"""What the card says of each CosyVoice model, by its directory."""

from __future__ import annotations

from typing import Any

import pytest

from tests.synth.engines.cosyvoice import PRESETS, SAVED, Double, double

__all__ = ["double"]


def test_presets_speak_their_own_language_first_and_chinese_as_they_were_recorded(double: Double) -> None:
    card = double.load().card
    voices = {voice.name: voice for voice in card.voices}
    assert voices["粤语女"].languages == ("yue", "en", "ja", "ko")
    assert voices["中文女"].languages == ("zh", "en", "ja", "ko")
    assert voices["英文男"].languages == ("en", "zh", "ja", "ko")
    assert (voices["中文女"].gender, voices["英文男"].gender) == ("female", "male")
    assert card.default_voices == {"zh": "中文女", "en": "英文男", "ja": "日语男", "yue": "粤语女", "ko": "韩语女"}


def test_a_language_that_no_voice_speaks_is_not_on_the_card(double: Double) -> None:
    card = double.load(voices={"中文女": PRESETS["中文女"]}).card
    assert "yue" not in card.languages
    assert set(card.default_voices) == set(card.languages)


def test_fingerprints_follow_the_numbers_of_a_voice_and_not_its_name(double: Double) -> None:
    renamed = {"a": PRESETS["中文女"], "b": PRESETS["中文女"], "c": PRESETS["英文男"]}
    fingerprints = [voice.fingerprint for voice in double.load(voices=renamed).card.voices]
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]


@pytest.mark.parametrize(
    ("family", "name", "clones", "instructed"),
    [
        ("v1", "CosyVoice-300M-SFT", False, False),
        ("v1", "CosyVoice-300M-Instruct", False, True),
        ("v1", "CosyVoice-300M", True, False),
        ("v2", "CosyVoice2-0.5B", True, True),
        ("v3", "Fun-CosyVoice3-0.5B", True, True),
    ],
)
def test_what_a_model_can_do_follows_its_kind(
    double: Double, family: str, name: str, clones: bool, instructed: bool
) -> None:
    card = double.load(family, name=name).card
    assert (card.cloning is not None) == clones
    assert ("instruction" in card.controls) == instructed
    assert card.sample_rate == (22_050 if family == "v1" else 24_000)
    assert card.speed is not None
    assert "seed" in card.controls
    assert card.deterministic


def test_a_setting_tells_the_kind_where_the_name_does_not(double: Double) -> None:
    assert double.load(name="my-model", variant="sft").card.cloning is None


def test_a_model_without_voices_clones_all_languages(double: Double) -> None:
    card = double.load("v2", name="CosyVoice2-0.5B", voices={}).card
    assert card.voices == ()
    assert card.default_voices == {}
    assert card.cloning is not None
    assert set(card.languages) == set(card.cloning.languages) == {"zh", "en", "ja", "yue", "ko"}


def test_a_saved_clone_speaks_cantonese_when_asked(double: Double) -> None:
    saved: dict[str, Any] = {"mine": SAVED}
    (voice,) = double.load("v2", name="CosyVoice2", voices=saved).card.voices
    assert set(voice.languages) == {"zh", "en", "ja", "yue", "ko"}


def test_in_streaming_no_seed_is_promised(double: Double) -> None:
    """Two threads draw from one generator there."""
    card = double.load(stream="yes").card
    assert "seed" not in card.controls
    assert not card.deterministic
