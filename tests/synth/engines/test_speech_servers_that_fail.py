"""openai_http over a server that misbehaves: each failure has its code, its limit, and no second one behind it."""

import contextlib
import email.utils
import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from synth.engines import _speech_server
from synth.engines.openai_http import OpenAiHttp
from synth.errors import EngineUnavailable, Permanent, Retryable, WorkError
from tests.servers.ports import free_port
from tests.servers.speech import RATE, Answer, SpeechServer, encoded, streamed_wav, tone
from tests.synth.engines.remote import KEY, TEXT, engine_of, failure, said, spoken

ROOT = Path(__file__).resolve().parents[3]
HEARD = tone({"input": TEXT, "voice": "tone_a"})
GOOD = encoded(HEARD, "wav")
BRIEF = {"connect_timeout": "0.3", "read_timeout": "0.3", "timeout": "0.9"}


@pytest.fixture
def server() -> Iterator[SpeechServer]:
    with SpeechServer() as server:
        yield server


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_the_server_refuses_is_refused_at_once(server: SpeechServer, status: int) -> None:
    server.answers = [Answer(status, body=f'{{"error": "{TEXT}"}}'.encode(), media_type="application/json")]
    assert failure(server, Permanent).code == "engine_refused"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "engine_access_refused"),
        (403, "engine_access_refused"),
        (404, "engine_misconfigured"),
        (405, "engine_misconfigured"),
        (204, "engine_misconfigured"),
    ],
)
def test_what_the_operator_must_repair_is_not_the_callers_fault_and_not_tried_again(
    server: SpeechServer, status: int, code: str
) -> None:
    server.answers = [Answer(status, body=b"", promised=0)]
    assert failure(server, Retryable).code == code
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(server: SpeechServer, status: int) -> None:
    server.answers = [Answer(status, body=b"busy"), Answer()]
    assert len(spoken(server).samples) == len(HEARD)
    assert len(server.asked) == 2


@pytest.mark.parametrize(("status", "code"), [(429, "engine_busy"), (503, "engine_busy"), (500, "engine_failed")])
def test_tries_have_an_end(server: SpeechServer, status: int, code: str) -> None:
    server.answers = [Answer(status, body=b"")]
    assert failure(server, Retryable, tries="2").code == code
    assert len(server.asked) == 2


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_waited_for(server: SpeechServer, status: int) -> None:
    server.answers = [Answer(status, body=b"", headers={"Retry-After": "1"}), Answer()]
    started = time.monotonic()
    spoken(server)
    assert time.monotonic() - started >= 1


@pytest.mark.parametrize(
    "after", ["3600", email.utils.formatdate(time.time() + 3600, usegmt=True)], ids=["seconds", "a date"]
)
def test_a_longer_retry_after_than_there_is_time_for_ends_the_sentence_at_once(
    server: SpeechServer, after: str
) -> None:
    server.answers = [Answer(429, body=b"", headers={"Retry-After": after})]
    assert failure(server, Retryable).code == "engine_busy"
    assert len(server.asked) == 1


def test_a_retry_after_that_says_nothing_is_passed_over(server: SpeechServer) -> None:
    server.answers = [Answer(429, body=b"", headers={"Retry-After": "soon"}), Answer()]
    assert len(spoken(server).samples) == len(HEARD)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(delay=3600),
        Answer(pause=3600),
        Answer(pieces=2, end="hang"),
        Answer(pieces=2000, pause=0.2),
    ],
    ids=["no headers", "no body", "half a body", "drip by drip"],
)
def test_a_server_that_hangs_costs_no_more_than_the_whole_time(server: SpeechServer, answer: Answer) -> None:
    server.answers = [answer]
    started = time.monotonic()
    assert failure(server, Retryable, **BRIEF).code == "engine_timeout"
    assert time.monotonic() - started < 30


def test_a_server_that_is_not_there(server: SpeechServer) -> None:
    with engine_of(server, voices="tone_a", tries="2") as engine:
        server.stop()
        with pytest.raises(Retryable) as caught:
            engine.synthesize(said(engine))
    assert caught.value.code == "engine_unreachable"


@pytest.mark.parametrize(
    "answer",
    [Answer(pieces=3, end="drop"), Answer(body=GOOD[:-1000], promised=len(GOOD), end="drop")],
    ids=["between chunks", "short of the length"],
)
def test_a_connection_that_breaks_is_tried_again(server: SpeechServer, answer: Answer) -> None:
    server.answers = [answer, Answer()]
    assert np.allclose(spoken(server).samples, HEARD, atol=1e-4)
    server.answers = [answer]
    assert failure(server, Retryable, tries="1").code == "engine_unreachable"


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("wav", Answer(body=b'{"error": {"message": "no"}}', media_type="application/json")),
        ("pcm", Answer(body=b'{"error": {"message": "no"}}', media_type="application/problem+json")),
        ("pcm", Answer(body=b'{"error": "no"}', media_type="application/octet-stream")),
        ("pcm", Answer(body=b'{\n  "detail": "no"\n}', media_type="audio/pcm")),
        ("pcm", Answer(body=b"<!DOCTYPE html><p>Sign in", media_type="application/octet-stream")),
        ("wav", Answer(body=b"<html>Sign in</html>", media_type="text/html")),
        ("wav", Answer(body=b"<html>Sign in</html>", media_type="audio/wav")),
        ("wav", Answer(body=b"", promised=0)),
        ("pcm", Answer(body=b"", promised=0)),
        ("wav", Answer(body=GOOD[:-1000])),
        ("wav", Answer(body=GOOD[:44])),
        ("wav", Answer(body=GOOD[:20])),
        ("wav", Answer(body=GOOD + GOOD)),
        ("wav", Answer(body=GOOD + GOOD, pieces=2)),
        ("wav", Answer(body=streamed_wav(HEARD[:0]))),
        ("wav", Answer(body=streamed_wav(HEARD)[:-1])),
        ("wav", Answer(body=streamed_wav(HEARD, rate=4_000_000))),
        ("wav", Answer(body=GOOD[:12] + b"JUNK" + b"\xff" * 4 + GOOD[12:])),
        ("wav", Answer(body=encoded(HEARD * np.nan, "wav", subtype="FLOAT"))),
        ("wav", Answer(body=encoded(HEARD, "wav", subtype="PCM_24")[:-1000])),
        ("pcm", Answer(body=b"\x01\x02\x03")),
        ("flac", Answer(body=encoded(HEARD, "flac")[:-2000])),
        ("opus", Answer(body=encoded(HEARD, "opus")[:100])),
        ("mp3", Answer(body=encoded(HEARD, "mp3")[: len(encoded(HEARD, "mp3")) // 2])),
        ("wav", Answer(body=GOOD, headers={"Content-Encoding": "gzip"})),
    ],
)
def test_what_is_not_the_whole_sound_is_tried_again_and_never_kept(
    server: SpeechServer, form: str, answer: Answer
) -> None:
    server.answers = [answer, answer, Answer()]
    assert spoken(server, response_format=form).duration == pytest.approx(len(HEARD) / RATE, abs=0.1)
    assert len(server.asked) == 3
    server.answers = [answer]
    assert failure(server, Retryable, response_format=form, tries="1").code == "engine_bad_answer"


def test_no_more_bytes_are_read_than_allowed(server: SpeechServer) -> None:
    server.answers = [Answer(body=bytes(4_000_000), pieces=100)]
    error = failure(server, Retryable, response_format="pcm", max_bytes="65536")
    assert (error.code, len(server.asked)) == ("engine_answer_too_large", 1)


@pytest.mark.parametrize("form", ["wav", "pcm", "flac"])
def test_no_more_sound_is_unpacked_than_allowed(server: SpeechServer, form: str) -> None:
    silence = encoded(np.zeros(RATE * 60, np.float32), form)
    server.answers = [Answer(body=silence)]
    assert failure(server, Retryable, response_format=form, max_seconds="30").code == "engine_answer_too_large"


def test_redirects_are_followed_on_the_same_server_only(server: SpeechServer) -> None:
    onward = {"Location": "/v1/audio/speech"}
    server.answers = [Answer(307, body=b"", headers=onward), Answer()]
    assert len(spoken(server).samples) == len(HEARD)
    assert server.headers[1]["Authorization"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_text_and_key_go_to_no_other_host(server: SpeechServer, status: int) -> None:
    with SpeechServer() as other:
        onward = {"Location": f"{other.base}/audio/speech"}
        server.answers = [Answer(status, body=b"", headers=onward)]
        assert failure(server, Retryable).code == "engine_misconfigured"
        assert not other.asked


def test_redirects_in_a_circle_end(server: SpeechServer) -> None:
    server.answers = [Answer(308, body=b"", headers={"Location": "/v1/audio/speech"})]
    assert failure(server, Retryable).code == "engine_misconfigured"


def test_a_server_that_is_away_is_not_asked_by_each_sentence(server: SpeechServer) -> None:
    server.answers = [Answer(delay=3600)]
    with engine_of(server, **BRIEF) as engine:
        engine._server._breaker._pause = 3600
        with pytest.raises(Retryable):
            engine.synthesize(said(engine))
        asked = len(server.asked)
        with pytest.raises(Retryable) as caught:
            engine.synthesize(said(engine))
    assert caught.value.code == "engine_unreachable"
    assert len(server.asked) == asked > 0


def test_a_server_that_is_busy_is_not_away(server: SpeechServer) -> None:
    server.answers = [Answer(503, body=b""), Answer(500, body=b""), Answer(429, body=b""), Answer()]
    with engine_of(server, tries="1") as engine:
        for _ in range(3):
            with pytest.raises(Retryable):
                engine.synthesize(said(engine))
        assert len(engine.synthesize(said(engine)).samples) == len(HEARD)


def test_a_server_that_comes_back_is_found_without_a_sentence_that_tries(server: SpeechServer) -> None:
    with engine_of(server, tries="1") as engine:
        breaker = engine._server._breaker
        breaker._pause = 0.1
        port = server.port
        server.stop()
        with pytest.raises(Retryable):
            engine.synthesize(said(engine))
        with SpeechServer(port=port) as again:
            again.pages["/v1/models"] = Answer(502, body=b"")
            ends_at = time.monotonic() + 1
            while breaker.is_open and time.monotonic() < ends_at:
                time.sleep(0.05)
            assert breaker.is_open, "what a gateway answers in its place is no sign of it"
            again.pages["/v1/models"] = Answer(404, body=b"")
            ends_at = time.monotonic() + 30
            while breaker.is_open:
                assert time.monotonic() < ends_at
                time.sleep(0.05)
            assert len(engine.synthesize(said(engine)).samples) == len(HEARD)


def test_a_stream_that_breaks_after_its_first_piece_is_not_begun_anew(server: SpeechServer) -> None:
    server.answers = [Answer(body=encoded(HEARD, "pcm")[:48_000], pieces=2, end="drop"), Answer()]
    with engine_of(server, response_format="pcm") as engine:
        stream = engine.stream(said(engine), {})
        assert next(stream).duration >= 0.2
        with pytest.raises(Retryable) as caught:
            list(stream)
    assert caught.value.code == "engine_unreachable"
    assert len(server.asked) == 1


def test_nobody_listens_there() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(EngineUnavailable, match=r"asked for /v1/.* at REFRAIN_OPENAI_BASE_URL"):
        OpenAiHttp(options={"base_url": address, "voices": "a", "start_wait": "0"})


def test_headers_that_never_end_cost_no_more_than_the_time_either() -> None:
    """Each line comes in time, so that no time-out between two of them would ever end it."""
    ended = threading.Event()

    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not ended.wait(0.05):
                connection.sendall(b"X-More: to come\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,), daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(EngineUnavailable, match="took too long"):
            OpenAiHttp(options={"base_url": address, "voices": "a", "start_wait": "0", "read_timeout": "0.5"})
        ended.set()
        thread.join()


def test_neither_text_nor_key_is_logged(server: SpeechServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.answers = [Answer(500, body=TEXT.encode()), Answer(), Answer(400, body=TEXT.encode()), Answer(end="drop")]
    with engine_of(server) as engine:
        engine.synthesize(said(engine))
        for _ in range(2):
            with pytest.raises(WorkError):
                engine.synthesize(said(engine))
    assert "the speech server is away" in caplog.text
    assert TEXT not in caplog.text
    assert KEY not in caplog.text


def test_the_guides_name_every_code() -> None:
    codes = {
        value for name, value in vars(_speech_server).items() if name.isupper() and str(value).startswith("engine_")
    }
    assert len(codes) == 9
    for page in ("docs/engines.md", "docs/api.md"):
        assert codes <= set(re.findall(r"`(\w+)`", (ROOT / page).read_text(encoding="utf-8"))), page
