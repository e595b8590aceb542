"""What openai_http offers is what the operator states and what the server lists; both are in the model's version."""

import threading
from collections.abc import Iterator

import pytest

from synth.engines.openai_http import OpenAiHttp
from synth.errors import EngineUnavailable, Permanent
from synth.types import EngineCard
from tests.servers.speech import MODEL, Answer, SpeechServer
from tests.synth.engines.remote import KEY, engine_of, said

VOICES, MODELS = "/v1/audio/voices", "/v1/models"


@pytest.fixture
def server() -> Iterator[SpeechServer]:
    with SpeechServer() as server:
        yield server


def card(server: SpeechServer, **options: str) -> EngineCard:
    with engine_of(server, **options) as engine:
        return engine.card


def voices(server: SpeechServer, **options: str) -> list[str]:
    return [voice.name for voice in card(server, **options).voices]


@pytest.mark.parametrize(
    "page",
    [
        {"voices": ["one", "two"]},
        ["one", "two", "one"],
        {"voices": [{"id": "one", "name": "One"}, {"name": "two"}]},
        {"voices": ["one", "", None, 7, {}, "x" * 101, {"voice_id": "two"}], "uploaded_voices": []},
    ],
)
def test_voices_are_those_that_the_server_lists(server: SpeechServer, page: object) -> None:
    server.page(VOICES, page)
    assert voices(server) == ["one", "two"]


def test_stated_voices_come_first_with_their_languages(server: SpeechServer) -> None:
    found = card(server, voices="alloy, xiaobei:zh, mix:zh/en, a:b", default_voices="zh=xiaobei")
    assert {voice.name: voice.languages for voice in found.voices} == {
        "alloy": ("zh", "en"),
        "xiaobei": ("zh",),
        "mix": ("zh", "en"),
        "a:b": ("zh", "en"),
    }
    assert found.default_voices == {"zh": "xiaobei", "en": "alloy"}


@pytest.mark.parametrize(
    "page",
    [
        Answer(404, body=b""),
        Answer(422, body=b""),
        Answer(body=b"<html>", media_type="text/html"),
        Answer(body=b"{}", headers={"Content-Encoding": "gzip"}),
        Answer(body=b'{"voices": "many", "data": 7}'),
        Answer(body=b" " * 2_000_000),
    ],
)
def test_a_server_that_lists_nothing_needs_stated_voices(server: SpeechServer, page: Answer) -> None:
    server.pages = {VOICES: page, MODELS: page}
    assert voices(server, voices="alloy") == ["alloy"]
    with pytest.raises(EngineUnavailable, match="REFRAIN_OPENAI_VOICES"):
        card(server)


@pytest.mark.parametrize(
    "options",
    [
        {"version": "2"},
        {"model": "tone-2"},
        {"response_format": "pcm"},
        {"extra_body": '{"cfg": 2}'},
        {"sample_rate": "16000"},
    ],
)
def test_another_version_by_what_changes_the_sound(server: SpeechServer, options: dict[str, str]) -> None:
    assert card(server, **options).model_version != card(server).model_version


def test_another_version_by_another_address(server: SpeechServer) -> None:
    other = card(server, base_url=f"http://localhost:{server.port}")
    assert other.model_version != card(server).model_version


def test_another_version_when_the_server_has_another_model(server: SpeechServer) -> None:
    before = card(server)
    server.page(MODELS, {"data": [{"id": MODEL, "root": "/models/other"}]})
    assert card(server).model_version != before.model_version


def test_the_same_version_by_all_else(server: SpeechServer) -> None:
    before = card(server)
    server.page(MODELS, {"data": [{"id": "more"}, {"id": MODEL, "root": "/models/tone", "created": 2}]})
    server.page(VOICES, {"voices": ["tone_a", "tone_b", "new"]})
    after = card(server, api_key="another", priority="7", timeout="9", languages="en", base_url=server.base + "/")
    assert after.model_version == before.model_version
    known = {voice.name: voice.fingerprint for voice in after.voices}
    assert {voice.name: voice.fingerprint for voice in before.voices}.items() <= known.items()


def test_a_server_that_still_loads_is_waited_for(server: SpeechServer) -> None:
    good = dict(server.pages)
    server.pages = {MODELS: Answer(503, body=b""), VOICES: Answer(503, body=b"")}
    timer = threading.Timer(0.5, lambda: setattr(server, "pages", good))
    timer.start()
    assert voices(server, start_wait="60") == ["tone_a", "tone_b"]
    timer.join()


def test_a_refused_key_is_told_at_the_start(server: SpeechServer) -> None:
    server.pages[MODELS] = Answer(401, body=b"")
    with pytest.raises(EngineUnavailable, match="answered 401") as caught:
        card(server, start_wait="60")
    assert KEY not in str(caught.value)


def test_a_key_for_speech_alone_is_enough(server: SpeechServer) -> None:
    server.pages = {MODELS: Answer(403, body=b"")}
    assert voices(server, voices="alloy") == ["alloy"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"base_url": ""}, "REFRAIN_OPENAI_BASE_URL is not set"),
        ({"base_url": "ftp://x"}, "REFRAIN_OPENAI_BASE_URL takes an address"),
        ({"base_url": "http://x:port"}, "REFRAIN_OPENAI_BASE_URL takes an address"),
        ({"base_url": "http://user:secret@x"}, "REFRAIN_OPENAI_API_KEY"),
        ({"api_key": "ключ"}, "REFRAIN_OPENAI_API_KEY takes"),
        ({"response_format": "aac"}, "REFRAIN_OPENAI_RESPONSE_FORMAT takes one of wav"),
        ({"speed": "fast"}, "REFRAIN_OPENAI_SPEED takes"),
        ({"speed": "1.5-2"}, "REFRAIN_OPENAI_SPEED takes"),
        ({"sample_rate": "high"}, "REFRAIN_OPENAI_SAMPLE_RATE takes a number"),
        ({"extra_body": "[]"}, "REFRAIN_OPENAI_EXTRA_BODY takes a JSON object"),
        ({"extra_body": '{"input": "x"}'}, "REFRAIN_OPENAI_EXTRA_BODY takes a JSON object without"),
        ({"default_voices": "alloy"}, "REFRAIN_OPENAI_DEFAULT_VOICES takes"),
        ({"default_voices": "zh=nobody"}, "zh has the voice nobody"),
        ({"voices": "xiaobei:zh"}, "en has no voice"),
    ],
)
def test_what_is_wrong_is_named(server: SpeechServer, options: dict[str, str], named: str) -> None:
    with pytest.raises(EngineUnavailable, match=named):
        OpenAiHttp(options=server.options(**options))


@pytest.mark.parametrize(
    ("languages", "text"), [("ru", "привет"), ("ko", "안녕하세요"), ("ar", "مرحبا"), ("th", "สวัสดี")]
)
def test_each_language_brings_its_script(server: SpeechServer, languages: str, text: str) -> None:
    with engine_of(server, languages=languages) as engine:
        assert engine.synthesize(said(engine, text, language=languages)).duration > 0
        with pytest.raises(Permanent):
            engine.synthesize(said(engine, "你好", language=languages))
