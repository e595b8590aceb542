"""An engine that takes a control in some ways only says which: the others are refused, with what it takes."""

from dataclasses import replace
from typing import Any

import pytest

from synth.errors import InvalidSpeech
from synth.snapshot import Snapshot
from synth.spec import read_request
from synth.types import Emotion, Spec, Voice
from tests.synth.spec.speakers import ABLE, HOUSE, LANGUAGES, TENANT

NARROW = replace(
    ABLE,
    emotion_ways=("vector", "reference"),
    emotion_values=8,
    limits={"emotion_sum": 0.8},
    pronunciation_kinds=("pinyin",),
    syllables=("chong2", "zhong4"),
)
FINGERPRINT = "ref:00112233445566778899aabbccddeeff"
OWN = Voice("mine", "able", FINGERPRINT, LANGUAGES)
SNAPSHOT = Snapshot(tenant=TENANT, version=1, keys={}, cards={"able": NARROW})
SNAPSHOT.__dict__["voices"] = {**SNAPSHOT.voices, "mine": OWN}


def spec(**body: Any) -> Spec:
    return read_request({"text": "重要的事情。", **body}, SNAPSHOT, house=HOUSE).spec


def refusals(**body: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidSpeech) as caught:
        spec(**body)
    return [(problem.field, problem.code) for problem in caught.value.fields]


@pytest.mark.parametrize("emotion", ["happy", {"text": "as if tired"}])
def test_an_emotion_by_another_way_is_refused(emotion: Any) -> None:
    assert refusals(emotion=emotion) == [("emotion", "unsupported_control")]


def test_a_vector_of_another_length_is_refused() -> None:
    assert refusals(emotion={"vector": [0.1] * 7}) == [("emotion.vector", "not_a_vector")]
    assert spec(emotion={"vector": [0.1] * 8}).manner.emotion == Emotion(vector=(0.1,) * 8)


def test_the_reference_of_an_emotion_is_known_by_its_sound() -> None:
    assert spec(emotion={"reference": "mine"}).manner.emotion == Emotion(reference=FINGERPRINT)


@pytest.mark.parametrize("name", ["somebody else's", "anna"])
def test_only_an_uploaded_voice_is_a_reference(name: str) -> None:
    assert ("emotion.reference", "unknown_voice") in refusals(emotion={"reference": name})


def test_a_pronunciation_of_another_kind_is_refused() -> None:
    told = refusals(pronunciations=[{"text": "重", "pinyin": "zhòng"}, {"text": "事", "alias": "是"}])
    assert told == [("pronunciations[1]", "unsupported_control")]


def test_a_syllable_that_the_engine_lacks_is_named() -> None:
    with pytest.raises(InvalidSpeech) as caught:
        spec(pronunciations=[{"text": "重要", "pinyin": "zhong4 yao4"}])
    (problem,) = caught.value.fields
    assert (problem.field, problem.code) == ("pronunciations[0]", "unknown_syllable")
    assert problem.params["syllables"] == "yao4"


def test_an_instruction_changes_the_sound_and_its_spaces_do_not() -> None:
    assert spec(instruction="whisper").manner.options == (("instruction", "whisper"),)
    assert spec(instruction="  whisper ") == spec(instruction="whisper")
    assert refusals(instruction="a" * 501) == [("instruction", "too_long")]


@pytest.mark.parametrize(("vector", "strength"), [([0.1] * 7 + [0.11], 1.0), ([1.0] + [0.0] * 7, 0.9)])
def test_a_vector_that_is_too_strong_in_all_is_refused(vector: list[float], strength: float) -> None:
    assert refusals(emotion={"vector": vector, "strength": strength}) == [("emotion.vector", "out_of_range")]


def test_the_strength_counts_for_what_a_vector_adds_up_to() -> None:
    assert spec(emotion={"vector": [1.0] + [0.0] * 7, "strength": 0.8}).manner.emotion.strength == 0.8
