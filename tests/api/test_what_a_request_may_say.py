"""Each field of POST /v1/speech: what it takes, what it refuses and by which code, in both languages."""

from typing import Any

import pytest

from synth.models import Job
from tests.api.caller import CHINESE, Caller, is_chinese, problem, refused_fields

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

MANY = "a" * 5_000


@pytest.mark.parametrize(
    "fields",
    [
        {"voice": "counting_b"},
        {"voice": "counting/counting_b"},
        {"language": "zh", "text": "你好。"},
        {"language": "zh-CN", "text": "你好。"},
        {"language": "EN_us"},
        {"speed": 0.5},
        {"speed": 2},
        {"voice": "actor_a", "duration": 2.5},
        {"voice": "actor_a", "emotion": "happy"},
        {"voice": "actor_a", "emotion": {"name": "Sad", "strength": 0.5}},
        {"voice": "actor_a", "emotion": {"vector": [0, 0.5, 1]}},
        {"voice": "actor_a", "emotion": {"text": "as if surprised"}},
        {"voice": "actor_a", "pronunciations": [{"text": "重", "pinyin": "chóng"}]},
        {"voice": "actor_a", "pronunciations": [{"text": "a", "ipa": "eɪ"}, {"text": "b", "alias": "bee"}]},
        {"voice": "plain_a", "emotion": "neutral", "speed": 1.0, "pronunciations": []},
        {"seed": 0},
        {"seed": 2**32 - 1},
        {"seed": 7.0},
        {"format": "mp3", "sample_rate": 44100, "bitrate": 320},
        {"format": "opus", "sample_rate": 16000, "bitrate": 24},
        {"format": "wav", "sample_rate": 8000.0},
        {"format": "flac"},
        {"format": "pcm", "sample_rate": 48000},
        {"category": "greeting"},
        {"category": ""},
        {"cache": "refresh"},
        {"cache": "bypass"},
        {"delivery": "inline"},
        {"delivery": "binary"},
        {"metadata": {"user": 7, "tags": ["a", None], "nested": {"a": {"b": "\\u0000 is written out"}}}},
        dict.fromkeys(["voice", "language", "speed", "duration", "emotion", "pronunciations", "seed", "format"]),
        dict.fromkeys(["sample_rate", "bitrate", "category", "cache", "delivery", "metadata", "callback"]),
    ],
    ids=str,
)
def test_it_takes(owner: Caller, fields: dict[str, Any]) -> None:
    response = owner.speak(fields)
    assert response.status_code == 202, response.content


REFUSALS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"text": None}, {"text": "required"}),
    ({"text": 7}, {"text": "not_a_string"}),
    ({"text": ""}, {"text": "nothing_to_say"}),
    ({"text": " \n\t\u3000"}, {"text": "nothing_to_say"}),
    ({"text": "?! …。「」—"}, {"text": "nothing_to_say"}),
    ({"text": "\u200b\u0000\ufeff"}, {"text": "nothing_to_say"}),
    ({"text": "a" * 100_001}, {"text": "too_long"}),
    ({"text": "Привет"}, {"text": "unspeakable_characters"}),
    ({"text": "你好", "voice": "plain_a"}, {"text": "unspeakable_characters"}),
    ({"voice": "nobody"}, {"voice": "unknown_voice"}),
    ({"voice": "plain/counting_a"}, {"voice": "unknown_voice"}),
    ({"voice": 5}, {"voice": "not_a_string"}),
    ({"voice": "v" * 129}, {"voice": "too_long"}),
    ({"voice": "a\u0000"}, {"voice": "not_allowed"}),
    ({"language": "fr"}, {"language": "unsupported_language"}),
    ({"language": "zh", "voice": "plain_a"}, {"language": "unsupported_language"}),
    ({"language": ["en"]}, {"language": "not_a_string"}),
    ({"speed": 0.49}, {"speed": "out_of_range"}),
    ({"speed": "fast"}, {"speed": "not_a_number"}),
    ({"speed": True}, {"speed": "not_a_number"}),
    ({"speed": 1.1, "voice": "plain_a"}, {"speed": "unsupported_control"}),
    ({"speed": 1.5, "voice": "actor_a"}, {"speed": "out_of_range"}),
    ({"duration": 3}, {"duration": "unsupported_control"}),
    ({"duration": 0, "voice": "actor_a"}, {"duration": "out_of_range"}),
    ({"emotion": "happy"}, {"emotion": "unsupported_control"}),
    ({"emotion": "angry", "voice": "actor_a"}, {"emotion": "not_allowed"}),
    ({"emotion": 3, "voice": "actor_a"}, {"emotion": "not_an_emotion"}),
    ({"emotion": "", "voice": "actor_a"}, {"emotion": "not_an_emotion"}),
    ({"emotion": {"name": "happy", "text": "x"}, "voice": "actor_a"}, {"emotion": "not_an_emotion"}),
    ({"emotion": {"vector": [2]}, "voice": "actor_a"}, {"emotion.vector": "not_a_vector"}),
    ({"emotion": {"name": "sad", "power": 1}, "voice": "actor_a"}, {"emotion.power": "unknown_field"}),
    (
        {"emotion": {"name": "sad", "strength": 2}, "voice": "actor_a", "seed": -1},
        {"emotion.strength": "out_of_range", "seed": "out_of_range"},
    ),
    ({"pronunciations": [{"text": "a", "alias": "b"}]}, {"pronunciations": "unsupported_control"}),
    ({"pronunciations": "a", "voice": "actor_a"}, {"pronunciations": "not_a_list"}),
    ({"pronunciations": [{}] * 101, "voice": "actor_a"}, {"pronunciations": "not_a_list"}),
    ({"pronunciations": ["a"], "voice": "actor_a"}, {"pronunciations[0]": "not_a_pronunciation"}),
    (
        {"pronunciations": [{"text": "重", "pinyin": "?"}], "voice": "actor_a"},
        {"pronunciations[0]": "not_a_pronunciation"},
    ),
    (
        {"pronunciations": [{"text": "a", "alias": "b", "pitch": 1}], "voice": "actor_a"},
        {"pronunciations[0].pitch": "unknown_field"},
    ),
    (
        {"pronunciations": [{"text": "a" * 201, "alias": "b"}], "voice": "actor_a"},
        {"pronunciations[0].text": "too_long"},
    ),
    ({"seed": -1}, {"seed": "out_of_range"}),
    ({"seed": 2**32}, {"seed": "out_of_range"}),
    ({"seed": 10**30}, {"seed": "out_of_range"}),
    ({"seed": 1.5}, {"seed": "not_an_integer"}),
    ({"seed": False}, {"seed": "not_an_integer"}),
    ({"seed": 1, "voice": "plain_a"}, {"seed": "unsupported_control"}),
    ({"format": "ogg"}, {"format": "not_allowed"}),
    ({"format": 3}, {"format": "not_allowed"}),
    ({"sample_rate": 96000}, {"sample_rate": "not_allowed"}),
    ({"sample_rate": True}, {"sample_rate": "not_allowed"}),
    ({"format": "opus", "sample_rate": 44100}, {"sample_rate": "not_allowed"}),
    ({"sample_rate": 8000, "bitrate": 320}, {"bitrate": "not_allowed"}),
    ({"format": "opus", "bitrate": 320}, {"bitrate": "not_allowed"}),
    ({"format": "wav", "bitrate": 64}, {"bitrate": "not_for_this_format"}),
    ({"category": "c" * 65}, {"category": "too_long"}),
    ({"category": "a\u0000b"}, {"category": "not_allowed"}),
    ({"cache": "no"}, {"cache": "not_allowed"}),
    ({"wait": -1}, {"wait": "out_of_range"}),
    ({"wait": 60.5}, {"wait": "out_of_range"}),
    ({"delivery": "email"}, {"delivery": "not_allowed"}),
    ({"metadata": [1]}, {"metadata": "not_an_object"}),
    ({"metadata": {"a": "x" * 4096}}, {"metadata": "too_large"}),
    ({"metadata": {"a": "\u0000"}}, {"metadata": "not_allowed"}),
    ({"metadata": {"a\\\u0000": 1}}, {"metadata": "not_allowed"}),
    ({"callback": 7}, {"callback": "not_a_string"}),
    ({"callback": "https://a.example/" + "a" * 2000}, {"callback": "too_long"}),
    ({"callback": "whk_00000000000000000000000000000000"}, {"callback": "unknown_endpoint"}),
    ({"callback": "whk_1"}, {"callback": "unknown_endpoint"}),
    ({"callback": "https://hooks.example/a"}, {"callback": "callback_not_allowed"}),
    ({"callback": "ftp://hooks.example/a"}, {"callback": "bad_callback"}),
    ({"callback": "https://user:word@hooks.example/a"}, {"callback": "bad_callback"}),
    ({"callback": "https://hooks.example/a#b"}, {"callback": "bad_callback"}),
    ({"callback": "https://hooks.example:port/a"}, {"callback": "bad_callback"}),
    ({"callback": "https:///a"}, {"callback": "bad_callback"}),
    ({"callback": "hooks.example/a"}, {"callback": "bad_callback"}),
    ({"txet": "hello", "Voice": "x"}, {"txet": "unknown_field", "Voice": "unknown_field"}),
    ({"wait": "now", "format": "ogg"}, {"wait": "not_a_number", "format": "not_allowed"}),
]


@pytest.mark.parametrize(("fields", "expected"), REFUSALS, ids=lambda case: str(case)[:60])
def test_it_refuses_by_name_and_code(owner: Caller, fields: dict[str, Any], expected: dict[str, str]) -> None:
    response = owner.speak(fields)
    assert refused_fields(response) == expected
    assert problem(response)["code"] == (next(iter(expected.values())) if len(expected) == 1 else "invalid_request")
    assert not Job.objects.exists()


@pytest.mark.parametrize(("fields", "expected"), REFUSALS, ids=lambda case: str(case)[:60])
def test_each_refusal_is_worded_in_chinese_for_who_reads_chinese(
    owner: Caller, fields: dict[str, Any], expected: dict[str, str]
) -> None:
    body = problem(owner.speak(fields, headers=CHINESE))
    english = problem(owner.speak(fields))
    assert {field["field"]: field["code"] for field in body["fields"]} == expected
    for said in (body["title"], body["detail"], *(field["message"] for field in body["fields"])):
        assert is_chinese(said), said
    assert [field.get("allowed") for field in body["fields"]] == [field.get("allowed") for field in english["fields"]]


def test_without_text_it_is_required(owner: Caller) -> None:
    assert refused_fields(owner.post({})) == {"text": "required"}


def test_what_no_engine_here_can_speak_is_told_by_character_and_engine(owner: Caller) -> None:
    (field,) = problem(owner.speak(text="Hello 你好", voice="plain_a"))["fields"]
    assert "你" in field["message"]
    assert "plain" in field["message"]
    assert "counting" in field["message"]


def test_a_control_that_is_lacking_names_the_engines_that_have_it(owner: Caller) -> None:
    (field,) = problem(owner.speak(emotion="happy"))["fields"]
    assert field["message"] == "The engine counting has no control of emotion. Engines that have it: actor."


def test_what_is_allowed_is_told(owner: Caller) -> None:
    (field,) = problem(owner.speak(format="opus", sample_rate=44100))["fields"]
    assert field["allowed"] == [8000, 12000, 16000, 24000, 48000]
    (field,) = problem(owner.speak(voice="plain_a", language="zh"))["fields"]
    assert field["allowed"] == ["en"]


def test_at_most_twenty_unknown_fields_are_told(owner: Caller) -> None:
    response = owner.speak({f"x{number}": 1 for number in range(5000)})
    assert len(refused_fields(response)) == 20


def test_metadata_nested_too_deeply_is_refused(owner: Caller) -> None:
    deep = b'{"text": "Hello", "wait": 0, "metadata": {"a": ' + b"[" * 300 + b"]" * 300 + b"}}"
    assert refused_fields(owner.post_bytes(deep)) == {"metadata": "too_deep"}


@pytest.mark.parametrize(("text", "waits"), [(MANY, True), (MANY + "b", False)])
def test_up_to_five_thousand_characters_may_wait(owner: Caller, monkeypatch: Any, text: str, waits: bool) -> None:
    seen: list[float] = []

    def note(job: Job, seconds: float) -> Job:
        seen.append(seconds)
        return job

    monkeypatch.setattr("synth.service.speaking.wait_for", note)
    assert owner.speak(text=text, wait=60).status_code == 202
    assert seen == [pytest.approx(60, abs=5) if waits else 0]


def test_a_hundred_thousand_characters_are_taken_at_once(owner: Caller) -> None:
    response = owner.speak(text="Hello there. " * 7692 + "Four", wait=60)
    assert (response.status_code, response.json()["characters"]) == (202, 100_000)
