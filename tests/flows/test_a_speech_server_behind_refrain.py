"""A speech server behind a whole Refrain: asked once a sentence, never mixed up, and told of when it fails."""

from __future__ import annotations

import io
from base64 import b64decode
from collections.abc import Iterator

import numpy as np
import pytest
import soundfile

from tests.conftest import StackMaker
from tests.faults.asking import Answer as Told
from tests.faults.asking import crowd
from tests.servers.speech import RATE, Answer, SpeechServer, pitch, tone
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.any_database]

VOICES = tuple(f"voice_{number}" for number in range(10))
TEXTS = tuple(" ".join(["word"] * (4 * length)) + "." for length in range(1, 6))


@pytest.fixture(scope="module")
def server() -> Iterator[SpeechServer]:
    with SpeechServer() as server:
        server.page("/v1/audio/voices", {"voices": list(VOICES)})
        yield server


@pytest.fixture(scope="module")
def running(make_shared_stack: StackMaker, server: SpeechServer) -> Stack:
    variables = {f"REFRAIN_OPENAI_{name.upper()}": value for name, value in server.options().items()}
    # All fifty may wait: beyond its seats an API process answers 202.
    others = {"REFRAIN_ENGINE_PACKAGES": "synth.engines", "REFRAIN_MAX_WAITERS": "50"}
    stack = make_shared_stack(engines=("openai_http",), env=variables | others)
    stack.api()
    stack.engine_worker(2)
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    return stack


def asked(text: str, voice: str = VOICES[0]) -> dict[str, object]:
    wanted = {"format": "wav", "delivery": "inline", "wait": 60}
    return {"text": text, "voice": f"openai_http/{voice}", "language": "en", **wanted}


def heard(answer: Told) -> tuple[float, float]:
    """Seconds, and the Hz of what is loudest."""
    samples, rate = soundfile.read(io.BytesIO(b64decode(answer.body["audio"])))
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return len(samples) / rate, float(spectrum.argmax()) * rate / len(samples)


def test_fifty_requests_at_once_with_ten_voices_and_five_texts_are_not_mixed(
    running: Stack, server: SpeechServer
) -> None:
    wanted = [(text, voice) for text in TEXTS for voice in VOICES]
    answers = crowd(running, [asked(text, voice) for text, voice in wanted])
    assert {answer.status for answer in answers} == {200}, [answer.body for answer in answers if answer.status != 200]
    for (text, voice), answer in zip(wanted, answers, strict=True):
        seconds, hertz = heard(answer)
        assert seconds == pytest.approx(len(tone({"input": text, "voice": voice})) / RATE, abs=0.15)
        assert hertz == pytest.approx(pitch(voice), abs=10)
    assert len(server.asked) == 50
    again = crowd(running, [asked(text, voice) for text, voice in wanted[:5]])
    assert [answer.body["cache"] for answer in again] == ["hit"] * 5
    assert len(server.asked) == 50


def test_what_the_server_refuses_is_the_callers_and_what_it_fails_is_not(running: Stack, server: SpeechServer) -> None:
    server.answers = [Answer(422, body=b""), Answer()]
    (refused,) = crowd(running, [asked("This one is refused.")])
    assert (refused.status, refused.body["code"]) == (422, "engine_refused")
    server.answers = [Answer(401, body=b"")]
    (failed,) = crowd(running, [asked("This one has a key that is refused.")])
    assert (failed.status, failed.body["code"]) == (503, "engine_access_refused")
    server.answers = [Answer(429, body=b"", headers={"Retry-After": "1"}), Answer(end="drop"), Answer()]
    (spoken,) = crowd(running, [asked("This one is heard at the third try.")])
    assert spoken.status == 200
