"""From an upload's bytes to samples, by libsndfile. Runs in the process that `sandbox` confines, for reading.py."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from synth.audio import m4a, mpeg
from synth.audio.references import ReferenceLimits, ReferenceRefused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# libsndfile's names of what we call by the others'.
CONTAINERS = {"wav": ("WAV", "WAVEX", "RF64"), "mp3": ("MP3",), "flac": ("FLAC",), "ogg": ("OGG",)}
# Rare codecs in a WAV are the least tried code of the decoder.
WAV_CODECS = frozenset({"PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW"})
# A codec may pad the end by some frames: that is no longer recording.
PADDING_S = 0.1
# What libsndfile says where a stream does not tell its length.
UNKNOWN_LENGTH = 1 << 62
WAV_STREAMED = frozenset({0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000, 0x80000000})
MOST_MISSING = 0.02
LAST_PAGE = 0x04


@dataclass(frozen=True, slots=True)
class Sound:
    """float32 samples of shape [N, channels]."""

    channels: NDArray[np.float32]
    rate: int


def decode(data: bytes, container: str, *, limits: ReferenceLimits) -> Sound:
    """The whole sound, never more of it than a moment beyond the longest, whatever its header says."""
    if container == "m4a":
        channels, rate = m4a.decode(data, seconds=limits.longest + 2 * PADDING_S)
        _check_shape(rate, channels.shape[1], limits)
        _check_length(len(channels), rate, declared=0, limits=limits)
        return Sound(channels, rate)
    import soundfile

    if container == "mp3" and not mpeg.tells_length(data):
        data = mpeg.with_length(data, seconds=limits.longest + 1)
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            # Else soundfile trusts the declared length, and seeks to it, which a stream of unknown length cannot.
            file.seekable = lambda: False
            _check_kind(file, container)
            _check_shape(file.samplerate, file.channels, limits)
            return _read(file, data, container, limits=limits)
    except (soundfile.SoundFileError, ValueError, TypeError, OverflowError) as error:
        raise ReferenceRefused("undecodable") from error


def _check_kind(file: Any, container: str) -> None:
    """One file may be two things to two readers; what we named it has to be what is decoded."""
    if file.format not in CONTAINERS[container]:
        raise ReferenceRefused("not_audio")
    if container == "wav" and file.subtype not in WAV_CODECS:
        raise ReferenceRefused("unsupported_format", {"format": f"wav ({file.subtype})"})


def _check_shape(rate: int, channels: int, limits: ReferenceLimits) -> None:
    if channels > limits.max_channels:
        raise ReferenceRefused("too_many_channels", {"channels": channels, "most": limits.max_channels})
    if rate > limits.highest_rate:
        raise ReferenceRefused("bomb")
    if rate < limits.lowest_rate:
        raise ReferenceRefused("sample_rate_too_low", {"rate": rate, "least": limits.lowest_rate})


def _read(file: Any, data: bytes, container: str, *, limits: ReferenceLimits) -> Sound:
    import soundfile

    declared = int(file.frames)
    most = round((limits.longest + 2 * PADDING_S) * file.samplerate)
    try:
        channels = file.read(most, dtype="float32", always_2d=True)
    except soundfile.SoundFileError as error:
        raise ReferenceRefused("truncated") from error
    _check_length(len(channels), file.samplerate, declared=declared, limits=limits)
    if _breaks_off(data, container, declared=declared, heard=len(channels)):
        raise ReferenceRefused("truncated")
    return Sound(channels, file.samplerate)


def _check_length(frames: int, rate: int, *, declared: int, limits: ReferenceLimits) -> None:
    if frames <= (limits.longest + PADDING_S) * rate:
        return
    if limits.bomb_seconds * rate < declared < UNKNOWN_LENGTH:
        raise ReferenceRefused("bomb")
    raise ReferenceRefused("too_long", {"most": limits.longest})


def _breaks_off(data: bytes, container: str, *, declared: int, heard: int) -> bool:
    """Whether the end is missing. libsndfile shortens what a WAV or an Ogg declares to what is there."""
    if container == "wav":
        return _wav_misses_data(data)
    if container == "ogg":
        return not _ogg_has_last_page(data)
    return declared < UNKNOWN_LENGTH and heard < declared * (1 - MOST_MISSING)


def _wav_misses_data(data: bytes) -> bool:
    position = 12
    while position + 8 <= len(data):
        name, size = data[position : position + 4], int.from_bytes(data[position + 4 : position + 8], "little")
        if name == b"data":
            there = len(data) - position - 8
            return size not in WAV_STREAMED and there < size * (1 - MOST_MISSING)
        position += 8 + size + size % 2
    return False


def _ogg_has_last_page(data: bytes) -> bool:
    page = data.rfind(b"OggS")
    return len(data) > page + 5 and bool(data[page + 5] & LAST_PAGE)
