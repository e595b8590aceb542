"""Work on samples: join, resample, set the loudness, and the lossless form that segments are stored in.

Called by the engine worker (to_flac) and by the io worker (the rest). The order that keeps every promise:
from_flac, join, resample, set_loudness, encode_clip.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from synth.audio.container import write_file
from synth.audio.limiter import limit_peaks
from synth.audio.loudness import loudness, set_loudness
from synth.audio.samples import from_int16, resample, to_int16
from synth.errors import Retryable
from synth.types import Pcm

__all__ = [
    "CorruptAudio", "Span", "from_flac", "join", "join_timed", "limit_peaks", "loudness", "resample", "set_loudness",
    "to_flac", "whole",
]  # fmt: skip

FADE_MS = 5
KEPT_SILENCE_MS = 20
# Silence is what lies 50 dB under the piece's own peak; below -80 dBFS everything is.
SILENCE_RATIO = 10 ** (-50 / 20)
SILENCE_FLOOR = 10 ** (-80 / 20)

MD5_IN_FLAC = slice(26, 42)
Span = tuple[float, float]


class CorruptAudio(Retryable):
    """Stored bytes that do not decode to what was stored: fetch again, or make anew."""

    code = "audio_corrupt"


def join(pieces: Sequence[Pcm], *, pause_ms: int) -> Pcm:
    """One sound with `pause_ms` of silence between the pieces, heard from sound to sound.

    Of the silence around each piece 20 ms are kept, which is part of the pause: a pause shorter than what is kept
    on both sides becomes that long. Edges fade over 5 ms. Pieces that are nothing but silence are left out.
    Raises ValueError when there is no piece or their sample rates differ.
    """
    return join_timed(pieces, pause_ms=pause_ms)[0]


def join_timed(pieces: Sequence[Pcm], *, pause_ms: int) -> tuple[Pcm, list[Span]]:
    """The same, and where each piece begins and ends in it, in seconds; one that is left out has no length."""
    rates = {piece.sample_rate for piece in pieces}
    if len(rates) != 1:
        raise ValueError(f"joining needs pieces of one sample rate, not {sorted(rates)}")
    (rate,) = rates
    parts: list[NDArray[np.float32]] = []
    spans: list[Span] = []
    at = kept_before = 0
    for piece in pieces:
        trimmed, kept_ahead, kept_behind = _trim(piece)
        if len(trimmed) and parts:
            gap = max(0, _samples(pause_ms, rate) - kept_before - kept_ahead)
            parts.append(np.zeros(gap, dtype=np.float32))
            at += gap
        spans.append((at / rate, (at + len(trimmed)) / rate))
        if len(trimmed):
            parts.append(_fade(trimmed, _samples(FADE_MS, rate)))
            at += len(trimmed)
            kept_before = kept_behind
    return Pcm(np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32), rate), spans


def whole(pieces: Sequence[Pcm], *, sample_rate: int) -> Pcm:
    """The pieces of one sound, one straight after the other. Raises ValueError for one of another rate."""
    if other := {piece.sample_rate for piece in pieces} - {sample_rate}:
        raise ValueError(f"a piece at {other.pop()} Hz of a sound at {sample_rate} Hz")
    if len(pieces) == 1:
        return pieces[0]
    samples = [piece.samples for piece in pieces]
    return Pcm(np.concatenate(samples) if samples else np.zeros(0, dtype=np.float32), sample_rate)


def to_flac(pcm: Pcm) -> bytes:
    """A segment as it is stored: FLAC of 16 bits, rounded to the nearest step (at most 1/65536 of full scale off).

    `from_flac` gives the rounded samples back exactly. Peaks beyond full scale are limited, not cut.
    Raises ValueError for no samples.
    """
    if not len(pcm.samples):
        raise ValueError("there are no samples to store")
    if np.abs(pcm.samples).max() > 1.0:
        pcm = limit_peaks(pcm, ceiling_dbfs=0.0)
    return write_file(to_int16(pcm.samples), sample_rate=pcm.sample_rate, container="FLAC", subtype="PCM_16")


def from_flac(data: bytes) -> Pcm:
    """Raises CorruptAudio unless every sample is there and the file's own checksum of them agrees."""
    import soundfile

    try:
        values, rate = soundfile.read(io.BytesIO(data), dtype="int16", always_2d=True)
    except (soundfile.SoundFileError, ValueError, TypeError) as error:
        raise CorruptAudio("the stored segment does not decode as FLAC") from error
    if values.shape[1] != 1:
        raise CorruptAudio("the stored segment has more than one channel")
    # A frame's own checksum has 16 bits, and libsndfile does not compare the header's digest of all samples.
    digest = hashlib.md5(values.astype("<i2", copy=False), usedforsecurity=False).digest()
    if data[:4] != b"fLaC" or data[MD5_IN_FLAC] != digest:
        raise CorruptAudio("the stored segment's samples do not match their checksum")
    return Pcm(from_int16(values[:, 0]), rate)


def _trim(piece: Pcm) -> tuple[NDArray[np.float32], int, int]:
    """The piece with little silence around it, and how many samples of that are left ahead and behind."""
    loud = np.abs(piece.samples)
    threshold = max(float(loud.max(initial=0.0)) * SILENCE_RATIO, SILENCE_FLOOR)
    sounding = np.flatnonzero(loud > threshold)
    if not len(sounding):
        return piece.samples[:0], 0, 0
    first, last = int(sounding[0]), int(sounding[-1])
    kept = _samples(KEPT_SILENCE_MS, piece.sample_rate)
    start, end = max(0, first - kept), min(len(loud), last + 1 + kept)
    return piece.samples[start:end], first - start, end - last - 1


def _fade(samples: NDArray[np.float32], length: int) -> NDArray[np.float32]:
    """Raised-cosine fades at both ends; a piece shorter than both fades gets shorter ones."""
    length = min(length, len(samples) // 2)
    ramp = (0.5 - 0.5 * np.cos(np.pi * np.arange(length) / max(1, length))).astype(np.float32)
    faded = samples.copy()
    faded[:length] *= ramp
    faded[len(faded) - length :] *= ramp[::-1]
    return faded


def _samples(milliseconds: int, rate: int) -> int:
    return round(milliseconds * rate / 1000)
