"""What an engine lacks is refused with the engines that have it, and neutral values never are; nothing is dropped."""

from typing import Any

import pytest

from synth.errors import InvalidSpeech
from tests.synth.spec.speakers import spec

PLAIN = {"voice": "carl"}
WISHES: dict[str, Any] = {
    "speed": 1.5,
    "duration": 2,
    "emotion": "happy",
    "seed": 7,
    "pronunciations": [{"text": "there", "ipa": "ðɛə"}],
    "instruction": "like a news reader",
}


def problems(**body: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidSpeech) as caught:
        spec(**body)
    return [(problem.field, problem.code) for problem in caught.value.fields]


@pytest.mark.parametrize("name", WISHES)
def test_what_the_engine_lacks_is_refused_and_says_who_has_it(name: str) -> None:
    with pytest.raises(InvalidSpeech) as caught:
        spec(**PLAIN, **{name: WISHES[name]})
    (problem,) = caught.value.fields
    assert (problem.field, problem.code) == (name, "unsupported_control")
    assert (problem.params["engine"], problem.params["engines"]) == ("plain", "able")


@pytest.mark.parametrize("name", WISHES)
def test_the_engine_that_has_it_takes_it(name: str) -> None:
    assert spec(**{name: WISHES[name]}).manner != spec().manner


@pytest.mark.parametrize(
    "neutral",
    [
        {"speed": 1},
        {"emotion": "neutral"},
        {"emotion": {"name": "happy", "strength": 0}},
        {"pronunciations": []},
        {"instruction": " "},
    ],
)
def test_a_neutral_value_is_as_good_as_none(neutral: dict[str, Any]) -> None:
    assert spec(**PLAIN, **neutral) == spec(**PLAIN)


def test_every_problem_is_told_at_once() -> None:
    told = problems(**PLAIN, speed=9, seed=-1, format="ogg", wait="long", metadata=[])
    assert told == [
        ("speed", "out_of_range"),
        ("seed", "out_of_range"),
        ("format", "not_allowed"),
        ("wait", "not_a_number"),
        ("metadata", "not_an_object"),
    ]


@pytest.mark.parametrize(
    "emotion",
    ["", "  ", {"name": ""}, {"text": " \n"}, {"reference": ""}, {}, {"strength": 1}, 7, []],
)
def test_an_emotion_that_says_nothing_is_refused(emotion: Any) -> None:
    assert problems(emotion=emotion) == [("emotion", "not_an_emotion")]


def test_an_emotion_is_one_thing_only() -> None:
    assert problems(emotion={"name": "happy", "text": "happily"}) == [("emotion", "not_an_emotion")]


def test_an_emotion_that_the_engine_does_not_know_is_refused() -> None:
    assert problems(emotion="melancholic") == [("emotion", "not_allowed")]


@pytest.mark.parametrize(
    "item",
    [
        {"text": "重"},
        {"pinyin": "chong2"},
        {"text": "重", "pinyin": "chong2", "alias": "虫"},
        {"text": "重", "pinyin": "chong6"},
        {"text": "重", "pinyin": "重"},
        {"text": " ", "pinyin": "chong2"},
        {"text": "重", "alias": "\u200b"},
        {"text": "重", "pinyin": 2},
        {"text": "重", "pinyin": "chong2", "tone": 3},
        "chong2",
        None,
    ],
)
def test_what_is_no_pronunciation_is_refused(item: Any) -> None:
    told = problems(pronunciations=[{"text": "长", "alias": "常"}, item])
    assert {name.partition(".")[0] for name, _ in told} == {"pronunciations[1]"}


@pytest.mark.parametrize("seed", [-1, 2**32, 2**64, 1.5, "1", True, float("inf")])
def test_what_is_no_seed_is_refused(seed: Any) -> None:
    assert [field for field, _ in problems(seed=seed)] == ["seed"]


@pytest.mark.parametrize("speed", [0.49, 2.01, "fast", True, float("nan"), float("inf")])
def test_what_is_no_speed_is_refused(speed: Any) -> None:
    assert [field for field, _ in problems(speed=speed)] == ["speed"]


@pytest.mark.parametrize("vector", [[], [1.01], [-0.1], ["1"], [True], [float("nan")], [0.1] * 65, 1])
def test_what_is_no_vector_is_refused(vector: Any) -> None:
    with pytest.raises(InvalidSpeech):
        spec(emotion={"vector": vector})
