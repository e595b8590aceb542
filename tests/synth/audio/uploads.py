"""Real small audio files, as tenants upload them: one sound in every container, with tags, and whole or altered."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import numpy as np
import soundfile

from synth.audio.references import ReferenceLimits, ReferenceRefused
from synth.audio.samples import to_int16
from synth.types import Pcm

from .signals import speech_like, tool

RATE = 24000
# Starting Python on a machine that is busy with other tests takes its time.
LIMITS = ReferenceLimits(seconds_of_work=60.0)


def spoken(seconds: float = 4.0, rate: int = RATE, *, level: float = 0.1, seed: int = 7) -> Pcm:
    return speech_like(seconds, rate, level=level, seed=seed)


def file_of(pcm: Pcm, container: str, subtype: str | None = None, *, channels: int = 1) -> bytes:
    """By libsndfile; whole-number formats get exactly the samples rounded to 16 bits."""
    lossy = container in ("OGG", "MP3") or subtype in ("FLOAT", "DOUBLE")
    values = pcm.samples if lossy else to_int16(pcm.samples)
    return encoded(np.repeat(values[:, None], channels, axis=1), pcm.sample_rate, container, subtype)


def encoded(values: np.ndarray, rate: int, container: str, subtype: str | None = None) -> bytes:
    target = io.BytesIO()
    soundfile.write(target, values, rate, format=container, subtype=subtype)
    return target.getvalue()


def by_ffmpeg(data: bytes, tmp_path: Path, name: str, *options: str) -> bytes:
    source, target = tmp_path / "source", tmp_path / name
    source.write_bytes(data)
    command = [tool("ffmpeg"), "-v", "error", "-y", "-i", str(source), *options, str(target)]
    subprocess.run(command, check=True, capture_output=True)
    return target.read_bytes()


def id3(payload: bytes) -> bytes:
    """An ID3v2 tag, whose size is written in seven bits a byte."""
    size = bytes(len(payload) >> shift & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\x03\x00\x00" + size + payload


def wav(samples: bytes, *, rate: int = RATE, channels: int = 1, bits: int = 16, said: int | None = None) -> bytes:
    """A WAV whose header says what one likes; `said` is the size of its data."""
    block = channels * bits // 8
    form = b"".join(
        value.to_bytes(size, "little")
        for value, size in ((1, 2), (channels & 0xFFFF, 2), (rate, 4), (rate * block & 0xFFFFFFFF, 4))
    )
    form += (block & 0xFFFF).to_bytes(2, "little") + bits.to_bytes(2, "little")
    size = len(samples) if said is None else said
    body = b"WAVEfmt \x10\0\0\0" + form + b"data" + size.to_bytes(4, "little") + samples
    return b"RIFF" + min(len(body), 0xFFFFFFFF).to_bytes(4, "little") + body


def refusal(read: object, data: bytes, *, limits: ReferenceLimits = LIMITS) -> ReferenceRefused | None:
    """What `read` refuses the file with, None where it takes it."""
    try:
        read(data, limits=limits)  # type: ignore[operator]
    except ReferenceRefused as refused:
        return refused
    return None
