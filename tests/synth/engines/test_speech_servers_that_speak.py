"""openai_http asks as the OpenAI API is asked, and reads every form in which servers answer."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from synth.engines.base import StreamingEngine, pieces
from synth.errors import Permanent
from tests.servers.speech import MODEL, RATE, UNKNOWN, Answer, SpeechServer, encoded, streamed_wav, tone
from tests.synth.engines.remote import KEY, TEXT, engine_of, said, spoken

HEARD = tone({"input": TEXT, "voice": "tone_a"})


@pytest.fixture
def server() -> Iterator[SpeechServer]:
    with SpeechServer() as server:
        yield server


def wav(subtype: str, *, channels: int = 1, rate: int = RATE) -> bytes:
    return encoded(np.stack([HEARD] * channels, axis=1), "wav", rate=rate, subtype=subtype)


def test_the_request_is_that_of_the_openai_api(server: SpeechServer) -> None:
    with engine_of(server) as engine:
        engine.synthesize(said(engine, "Good morning.", speed=1.25))
    [asked], [headers] = server.asked, server.headers
    assert asked == {
        "path": "/v1/audio/speech",
        "model": MODEL,
        "input": "Good morning.",
        "voice": "tone_a",
        "response_format": "wav",
        "speed": 1.25,
    }
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Accept-Encoding"] == "identity"


def test_no_key_no_header(server: SpeechServer) -> None:
    spoken(server, api_key="")
    assert "Authorization" not in server.headers[0]


def test_more_fields_and_a_style_where_the_server_takes_them(server: SpeechServer) -> None:
    with engine_of(server, extra_body='{"stream": true}', instructions="yes", speed="1") as engine:
        plain = said(engine)
        styled = dataclasses.replace(plain.manner, options=(("instruction", "Whisper."),))
        engine.synthesize(dataclasses.replace(plain, manner=styled))
    assert server.asked[0]["stream"] is True
    assert server.asked[0]["instructions"] == "Whisper."
    assert "speed" not in server.asked[0]


def test_a_style_is_refused_where_the_server_takes_none(server: SpeechServer) -> None:
    with engine_of(server) as engine:
        plain = said(engine)
        styled = dataclasses.replace(plain.manner, options=(("instruction", "Whisper."),))
        with pytest.raises(Permanent, match="instruction"):
            engine.synthesize(dataclasses.replace(plain, manner=styled))
    assert not server.asked


@pytest.mark.parametrize("base", ["http://127.0.0.1:{port}", "http://127.0.0.1:{port}/", "http://127.0.0.1:{port}/v1/"])
def test_the_address_may_end_in_v1(server: SpeechServer, base: str) -> None:
    assert spoken(server, base_url=base.format(port=server.port)).duration > 0


@pytest.mark.parametrize("form", ["wav", "pcm", "flac", "mp3", "opus"])
def test_each_format_is_read(server: SpeechServer, form: str) -> None:
    pcm = spoken(server, response_format=form)
    assert server.asked[0]["response_format"] == form
    assert pcm.sample_rate == RATE
    assert pcm.samples.dtype == np.float32
    assert pcm.duration == pytest.approx(len(HEARD) / RATE, abs=0.08)
    middle = pcm.samples[RATE // 2 :][:RATE]
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.14, abs=0.02)


@pytest.mark.parametrize("asked", ["wav", "pcm"])
@pytest.mark.parametrize("size", [UNKNOWN, 0x7FFFFFFF, 2_000_000_000, 0])
def test_a_streamed_wav_is_read_to_its_end_whatever_size_it_states(server: SpeechServer, asked: str, size: int) -> None:
    server.answers = [Answer(body=streamed_wav(HEARD, size=size), pieces=7)]
    assert np.allclose(spoken(server, response_format=asked).samples, HEARD, atol=1e-4)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32", "PCM_U8", "FLOAT", "DOUBLE"])
@pytest.mark.parametrize("channels", [1, 2])
def test_a_wav_of_any_samples_and_channels_is_read(server: SpeechServer, subtype: str, channels: int) -> None:
    server.answers = [Answer(body=wav(subtype, channels=channels), pieces=5)]
    assert np.allclose(spoken(server).samples, HEARD, atol=0.01)


def test_what_stands_behind_the_samples_of_a_wav_is_not_heard(server: SpeechServer) -> None:
    server.answers = [Answer(body=wav("PCM_16") + b"LIST\x04\x00\x00\x00INFO")]
    assert len(spoken(server).samples) == len(HEARD)


@pytest.mark.parametrize("rate", [16_000, 22_050, 44_100, 48_000])
def test_another_rate_is_converted(server: SpeechServer, rate: int) -> None:
    server.answers = [Answer(body=wav("PCM_16", rate=rate), pieces=9)]
    pcm = spoken(server)
    assert pcm.sample_rate == RATE
    assert len(pcm.samples) == pytest.approx(len(HEARD) * RATE / rate, abs=2)


def test_the_rate_of_headerless_samples_is_the_one_of_their_type_or_the_configured_one(server: SpeechServer) -> None:
    assert len(spoken(server, response_format="pcm").samples) == len(HEARD)
    server.answers = [Answer(media_type="audio/L16; rate=48000")]
    assert len(spoken(server, response_format="pcm").samples) == pytest.approx(len(HEARD) / 2, abs=2)
    server.answers = [Answer()]
    assert spoken(server, response_format="pcm", sample_rate="16000").sample_rate == 16_000


@pytest.mark.parametrize("media_type", ["application/octet-stream", "audio/mpeg", "audio/x-wav"])
def test_a_wrong_type_of_audio_does_not_matter_where_the_bytes_tell(server: SpeechServer, media_type: str) -> None:
    server.answers = [Answer(media_type=media_type)]
    assert np.allclose(spoken(server).samples, HEARD, atol=1e-4)


def test_an_mp3_in_place_of_a_wav_is_read(server: SpeechServer) -> None:
    server.answers = [Answer(body=encoded(HEARD, "mp3"), media_type="audio/mpeg")]
    assert spoken(server).duration == pytest.approx(len(HEARD) / RATE, abs=0.1)
    assert spoken(server, response_format="pcm").duration == pytest.approx(len(HEARD) / RATE, abs=0.1)


def test_samples_beyond_full_scale_are_held_to_it(server: SpeechServer) -> None:
    server.answers = [Answer(body=encoded(HEARD * 6, "wav", subtype="FLOAT"))]
    assert np.abs(spoken(server).samples).max() == 1.0


@pytest.mark.parametrize("form", ["wav", "pcm"])
@pytest.mark.parametrize("rate", [RATE, 16_000])
def test_pieces_come_as_they_are_sent_and_join_to_the_whole(server: SpeechServer, form: str, rate: int) -> None:
    server.answers = [Answer(pieces=40)]
    with engine_of(server, response_format=form, sample_rate=str(rate)) as engine:
        assert isinstance(engine, StreamingEngine)
        given = [pcm.samples for pcm in pieces(engine, said(engine), {})]
        whole = engine.synthesize(said(engine)).samples
    assert len(given) > 3
    assert np.array_equal(np.concatenate(given), whole)


def test_the_first_piece_is_given_before_the_last_is_sent(server: SpeechServer) -> None:
    server.answers = [Answer(pieces=4, end="hang")]
    with engine_of(server, response_format="pcm") as engine:
        stream = engine.stream(said(engine), {})
        assert next(stream).duration >= 0.2
        stream.close()
        server.answers = [Answer()]
        assert engine.synthesize(said(engine)).duration > 0, "an abandoned stream does not stand in the way"


def test_a_kept_connection_that_the_server_has_closed_is_no_failure(server: SpeechServer) -> None:
    with engine_of(server, tries="1") as engine:
        engine.synthesize(said(engine))
        port, kept = server.port, server.answers
        server.stop()
        with SpeechServer(port=port) as again:
            again.answers = kept
            assert engine.synthesize(said(engine)).duration > 0
