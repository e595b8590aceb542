"""Whatever a caller may write in two ways without changing the sound gives one key."""

import unicodedata
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.keys import rendition_key
from synth.spec import read_request
from tests.synth.spec.speakers import HOUSE, SNAPSHOT, request, spec

WORDS = st.text("abcABC éüñ你好世界こんにちは123", min_size=1, max_size=20).filter(lambda text: text.strip())
SPACES = st.text(" \t\u3000\u00a0", min_size=1, max_size=4)


def key(**body: Any) -> str:
    return rendition_key(spec(**body))


def pronounced(pinyin: str) -> dict[str, Any]:
    return {"pronunciations": [{"text": "重", "pinyin": pinyin}]}


SPELLINGS: dict[str, list[dict[str, Any]]] = {
    "speed": [{}, {"speed": None}, {"speed": 1}, {"speed": 1.0}, {"speed": 1.0004}],
    "another speed": [{"speed": 2}, {"speed": 2.0}, {"speed": 1.9999}],
    "emotion": [
        {},
        {"emotion": None},
        {"emotion": "neutral"},
        {"emotion": "default"},
        {"emotion": " Neutral "},
        {"emotion": {"name": "neutral", "strength": 0.3}},
        {"emotion": {"name": "happy", "strength": 0}},
        {"emotion": {"name": "happy", "strength": -0.0}},
        {"emotion": {"text": "with joy", "strength": 0}},
    ],
    "an emotion": [
        {"emotion": "happy"},
        {"emotion": "HAPPY "},
        {"emotion": {"name": "happy"}},
        {"emotion": {"name": "happy", "strength": 1}},
        {"emotion": {"strength": 1.0, "vector": None, "name": "Happy"}},
    ],
    "an emotion in words": [
        {"emotion": {"text": "tr\u00e8s  doux"}},
        {"emotion": {"text": " tre\u0300s doux "}},
    ],
    "a vector": [
        {"emotion": {"vector": [0, 1, 0.5]}},
        {"emotion": {"vector": [0.0, 1.0, 0.5]}},
        {"emotion": {"vector": [-0.0, 1, 0.50001]}},
    ],
    "pinyin": [pronounced(text) for text in ("chóng", "chong2", "CHONG2", "cho\u0301ng", "CHÓNG", " chong2 ")],
    "pinyin with ü": [pronounced(text) for text in ("lǜ", "lv4", "LÜ4", "lu:4", "lu\u0308\u0300", "lü4")],
    "pinyin of two": [pronounced(text) for text in ("chóng qìng", "chong2  qing4", "CHONG2 QING4")],
    "the neutral tone": [pronounced(text) for text in ("ma", "ma5", "ma0")],
    "no pronunciation": [{}, {"pronunciations": None}, {"pronunciations": []}],
    "a voice": [{}, {"voice": "anna"}, {"voice": "able/anna"}, {"voice": None}, {"voice": ""}],
    "a language": [{}, {"language": "en"}, {"language": "EN"}, {"language": "en-GB"}, {"language": "en_US"}],
    "a language of a voice": [{"voice": "ben", "language": tag} for tag in ("en", "en-AU", None)],
    "Chinese": [{"text": "你好。", "language": tag} for tag in ("zh", "zh-CN", "zh-Hans-CN", "ZH", None)],
    "the form": [
        {},
        {"format": "mp3"},
        {"format": "mp3", "sample_rate": 24000},
        {"format": "mp3", "sample_rate": 24000, "bitrate": 64},
        {"bitrate": 64},
        {"sample_rate": 24000, "bitrate": None, "format": None},
    ],
    "the form of wav": [{"format": "wav"}, {"format": "wav", "sample_rate": 24000}],
    "no seed": [{}, {"seed": None}],
    "a seed": [{"seed": 7}, {"seed": 7.0}],
    "white space": [{"text": text} for text in ("Hello there.", "  Hello \t there.\n", "Hello\u00a0there.")],
    "no part of the sound": [
        {},
        {"category": "news"},
        {"cache": "refresh"},
        {"cache": "bypass"},
        {"wait": 0},
        {"wait": 60},
        {"delivery": "inline"},
        {"delivery": "binary"},
        {"metadata": {"speed": 2}},
    ],
}


@pytest.mark.parametrize("meaning", SPELLINGS)
def test_every_spelling_has_the_one_key(meaning: str) -> None:
    keys = {key(**body) for body in SPELLINGS[meaning]}
    assert len(keys) == 1


def test_different_meanings_have_different_keys() -> None:
    first_spellings = [{"text": "Hello there.", **bodies[0]} for bodies in SPELLINGS.values()]
    distinct = {
        orjson.dumps(body, option=orjson.OPT_SORT_KEYS) for body in first_spellings if None not in body.values()
    }
    assert len({key(**orjson.loads(body)) for body in distinct}) == len(distinct)


@given(st.permutations(["text", "speed", "emotion", "seed", "format", "language", "pronunciations"]))
def test_the_order_of_fields_does_not_matter(order: list[str]) -> None:
    body = {
        "text": "重庆。",
        "speed": 1.25,
        "emotion": {"strength": 0.5, "name": "sad"},
        "seed": 7,
        "format": "opus",
        "language": "zh",
        "pronunciations": [{"pinyin": "chong2", "text": "重"}],
    }
    shuffled = orjson.loads(orjson.dumps({name: body[name] for name in order}))
    assert rendition_key(read_request(shuffled, SNAPSHOT, house=HOUSE).spec) == key(**body)


@settings(max_examples=40, deadline=None)
@given(WORDS, WORDS, SPACES, SPACES, SPACES)
def test_white_space_and_unicode_form_do_not_matter(
    first: str, second: str, before: str, between: str, after: str
) -> None:
    plain = f"{' '.join(first.split())} {' '.join(second.split())}"
    spaced = f"{before}{first}{between}{second}{after}"
    language = "zh"
    once = key(text=plain, language=language)
    assert key(text=spaced, language=language) == once
    assert key(text=unicodedata.normalize("NFD", spaced), language=language) == once


@given(st.floats(0.5, 2.0))
def test_speed_is_known_to_a_thousandth(speed: float) -> None:
    assert key(speed=speed) == key(speed=round(speed, 3))


@given(st.integers(0, 2**32 - 1))
def test_a_seed_of_the_caller_is_kept_as_it_is(seed: int) -> None:
    assert spec(seed=seed).manner.seed == seed
    assert key(seed=seed) != key()


def test_case_width_and_punctuation_are_not_folded() -> None:
    texts = ("Hello there.", "hello there.", "Hello there!", "Ｈello there.", "Hello, there.", "Hello there")
    assert len({key(text=text) for text in texts}) == len(texts)


def test_characters_are_counted_in_the_text_that_is_spoken() -> None:
    assert request(text="  Hello   there. ").characters == len("Hello there.")
