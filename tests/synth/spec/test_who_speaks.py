"""Which engine, voice and language a request gets, from what it names and from its text."""

from typing import Any

import pytest

from synth.errors import InvalidSpeech, ServiceUnavailable
from synth.snapshot import Snapshot
from synth.spec import MAX_CHARACTERS, MAX_WAITING_CHARACTERS, read_request
from tests.synth.spec.speakers import HOUSE, TENANT, request, spec


def refusal(**body: Any) -> tuple[str, str]:
    with pytest.raises(InvalidSpeech) as caught:
        spec(**body)
    (problem,) = caught.value.fields
    return problem.field, problem.code


@pytest.mark.parametrize(
    ("voice", "engine", "name"),
    [
        ("anna", "able", "anna"),
        ("able/anna", "able", "anna"),
        ("plain/anna", "plain", "anna"),
        ("carl", "plain", "carl"),
    ],
)
def test_a_voice_belongs_to_an_engine(voice: str, engine: str, name: str) -> None:
    manner = spec(voice=voice).manner
    assert (manner.engine, manner.voice) == (engine, name)


def test_voices_of_one_name_on_two_engines_are_two_voices() -> None:
    mine, other = spec(voice="able/anna").manner, spec(voice="plain/anna").manner
    assert mine.voice_fingerprint != other.voice_fingerprint
    assert mine.model_version != other.model_version


@pytest.mark.parametrize(("text", "language"), [("你好。", "zh"), ("Hello.", "en"), ("こんにちは。", "ja")])
def test_without_a_language_the_text_decides(text: str, language: str) -> None:
    assert spec(text=text).manner.language == language


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"voice": "nobody"}, ("voice", "unknown_voice")),
        ({"voice": "carl", "language": "zh"}, ("language", "unsupported_language")),
        ({"language": "tlh"}, ("language", "unsupported_language")),
        ({"text": "你好。", "voice": "carl"}, ("text", "unspeakable_characters")),
        ({"text": "Привет."}, ("text", "unspeakable_characters")),
        ({"text": " \n\t"}, ("text", "nothing_to_say")),
        ({"text": "…!?"}, ("text", "nothing_to_say")),
        ({"text": ""}, ("text", "nothing_to_say")),
        ({"text": None}, ("text", "required")),
        ({"text": 7}, ("text", "not_a_string")),
        ({"text": "a" * (MAX_CHARACTERS + 1)}, ("text", "too_long")),
    ],
)
def test_what_cannot_be_spoken_is_refused(body: dict[str, Any], told: tuple[str, str]) -> None:
    assert refusal(**body) == told


def test_without_any_engine_it_is_unavailable() -> None:
    with pytest.raises(ServiceUnavailable) as caught:
        read_request({"text": "Hello."}, Snapshot(tenant=TENANT, version=1, keys={}, cards={}), house=HOUSE)
    assert caught.value.code == "no_engine"


@pytest.mark.parametrize(("length", "wait"), [(MAX_WAITING_CHARACTERS, 60), (MAX_WAITING_CHARACTERS + 1, 0)])
def test_only_short_texts_are_waited_for(length: int, wait: float) -> None:
    assert request(text="a" * length, wait=60).wait == wait
