"""An engine that writes down each of its runs, and fails, hangs or crashes when the text says so.

Workers of the tests load it. COUNTING_LOG names the file of runs, COUNTING_SECONDS how long one takes; with
COUNTING_VARIES no two runs sound the same. It clones voices: each has a pitch that its reference's samples tell.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synth.engines.base import NO_OPTIONS, NO_REFERENCES
from synth.errors import Permanent, Retryable
from synth.types import Cloning, EngineCard, Pcm, Reference, Segment, SpeedRange, Voice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "counting"
SAMPLE_RATE = 24_000
LANGUAGES = ("zh", "en", "ja", "ko")
VOICES = ("counting_a", "counting_b")

CRASH = "crash-now"
FAIL_PERMANENTLY = "fail-permanently"
FAIL_TRANSIENTLY = "fail-transiently"
SILENCE = "silence-please"
HANG = "hang-forever"

WIDE_SECONDS = 0.25  # a Chinese, Japanese or Korean character
NARROW_SECONDS = 0.07


class CountingEngine:
    """Speaks a tone that wavers; its pitch tells voice and text apart."""

    def __init__(self, *, threads: int = 1, options: Mapping[str, str] = NO_OPTIONS) -> None:
        self.threads, self.options = threads, options
        self.card = _card(os.environ.get("COUNTING_MODEL_VERSION", "counting-1"))

    def synthesize(self, segment: Segment, references: Mapping[str, Reference] = NO_REFERENCES) -> Pcm:
        _note("start", segment)
        time.sleep(float(os.environ.get("COUNTING_SECONDS", "0.05")))
        _obey(segment.text)
        voice = _voice(segment, references)
        samples = tone(segment, os.urandom(8).hex() if os.environ.get("COUNTING_VARIES") else voice)
        _note("end", segment)
        return Pcm(samples, SAMPLE_RATE)


ENGINE = CountingEngine


def tone(segment: Segment, voice: str = "") -> NDArray[np.float32]:
    """The samples for a segment: the same for the same segment and voice, always."""
    import numpy as np

    length = round(seconds_for(segment.text, segment.manner.speed) * SAMPLE_RATE)
    at = np.arange(length) / SAMPLE_RATE
    loudness = 0.0 if SILENCE in segment.text else 0.3
    envelope = loudness * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * at))
    return (envelope * np.sin(2 * np.pi * pitch(segment, voice) * at)).astype(np.float32)


def pitch(segment: Segment, voice: str = "") -> float:
    """Hz, from 200 to 1200."""
    said = f"{voice or segment.manner.voice}\n{segment.text}\n{segment.manner.seed}".encode()
    return 200 + int.from_bytes(hashlib.sha256(said).digest()[:2]) % 1000


def _voice(segment: Segment, references: Mapping[str, Reference]) -> str:
    """What tells the voice: of a cloned one every sample of its reference."""
    fingerprint = segment.manner.voice_fingerprint
    if not fingerprint.startswith("ref:"):
        return segment.manner.voice
    return hashlib.sha256(references[fingerprint].pcm.samples.tobytes()).hexdigest()


def seconds_for(text: str, speed: float) -> float:
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return max(0.2, wide * WIDE_SECONDS + (len(text) - wide) * NARROW_SECONDS) / speed


def runs(log: Path) -> list[dict[str, Any]]:
    """The runs that were started, in order; each is a dict of event, pid, time, voice and text."""
    return [line for line in lines(log) if line["event"] == "start"]


def lines(log: Path) -> list[dict[str, Any]]:
    """Every line of COUNTING_LOG: the start of a run, and its end if it had one."""
    text = log.read_text(encoding="utf-8") if log.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def _card(model_version: str) -> EngineCard:
    voices = tuple(Voice(name, NAME, f"fingerprint-of-{name}", LANGUAGES) for name in VOICES)
    return EngineCard(
        name=NAME,
        model_version=model_version,
        sample_rate=SAMPLE_RATE,
        languages=LANGUAGES,
        scripts=("Hani", "Hira", "Kana", "Hang", "Latn"),
        voices=voices,
        default_voices=dict.fromkeys(LANGUAGES, VOICES[0]),
        speed=SpeedRange(0.5, 2.0),
        controls=frozenset({"seed"}),
        cloning=Cloning(languages=LANGUAGES, minimum=3.0, maximum=30.0),
        deterministic=not os.environ.get("COUNTING_VARIES"),
    )


def _note(event: str, segment: Segment) -> None:
    """One line by one write: lines of several processes never mix."""
    path = os.environ.get("COUNTING_LOG")
    if not path:
        return
    line = {
        "event": event,
        "pid": os.getpid(),
        "time": time.time(),
        "voice": segment.manner.voice,
        "text": segment.text,
    }
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, (json.dumps(line, ensure_ascii=False) + "\n").encode())
    finally:
        os.close(file)


def _obey(text: str) -> None:
    if CRASH in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if FAIL_PERMANENTLY in text:
        raise Permanent("told to fail", code="told_to_fail")
    if FAIL_TRANSIENTLY in text:
        raise Retryable("told to fail for now", code="told_to_fail_for_now")
    while HANG in text:
        time.sleep(3600)
