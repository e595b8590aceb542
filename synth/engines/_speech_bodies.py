"""What a speech server answers with, as samples: wav and pcm piece by piece, flac, mp3 and opus whole. For openai_http.

Servers write wav headers before they know the length, name the wrong type, or stop in the middle: all of it is told.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Blocks = Iterator[NDArray[np.float32]]

LEAST_RATE, MOST_RATE = 8_000, 192_000
MOST_CHANNELS = 8
# What stands for "not known yet" in the header of a wav that is streamed: 0, or more than a sentence ever has (seen:
# 0xFFFFFFFF, 0x7FFFFFFF, 2,000,000,000).
UNKNOWN_SIZE = 10**9
UNKNOWN_FRAMES = 10**12
MOST_HEADER = 2**20
READ_FRAMES = 2**16
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_SAMPLE_TYPES = {(_PCM, 16): "<i2", (_FLOAT, 32): "<f4"}
_WHOLE = (b"fLaC", b"OggS", b"ID3")
# How errors begin that are sent as audio; samples never do.
_PAGE = re.compile(rb'\s*(\{\s*"[a-z_]{3}|<!doctype|<html)', re.IGNORECASE)


class BadBody(Exception):  # noqa: N818
    """Not the audio that was asked for; the message never holds what the server sent."""


class TooLong(BadBody):
    """More than is taken from one answer."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`form` is what the server was asked for, `rate` the one of headerless samples and of what is given back."""

    form: str
    rate: int
    most_seconds: float


@dataclass(frozen=True, slots=True)
class _Sound:
    """Mono blocks at `rate`."""

    blocks: Blocks
    rate: int


def decoded(chunks: Iterable[bytes], media_type: str, wanted: Wanted) -> Blocks:
    """Mono samples within ±1 at the wanted rate. Raises BadBody as soon as it is sure."""
    head, rest = _head(iter(chunks), 12)
    kind = _kind(head, media_type, wanted.form)
    source = chain((head,), rest)
    if kind == "pcm":
        rate = _rate_of(media_type) or wanted.rate
        sound = _Sound(_mono(_frames(source, 2, size=None), "<i2", channels=1), rate)
    elif kind == "wav":
        sound = _wav(source)
    else:
        sound = _whole(b"".join(source))
    _check_rate(sound.rate)
    yield from _resampled(_bounded(sound, wanted.most_seconds), sound.rate, wanted.rate)


def _head(source: Iterator[bytes], least: int) -> tuple[bytes, Iterator[bytes]]:
    head = b""
    while len(head) < least and (chunk := next(source, None)) is not None:
        head += chunk
    return head, source


def _kind(head: bytes, media_type: str, form: str) -> str:
    """By the first bytes, and by the stated type only where headerless samples could be anything."""
    stated = media_type.partition(";")[0].strip().lower()
    if not head:
        raise BadBody("the answer is empty")
    if stated.endswith("json") or stated.startswith("text/"):
        raise BadBody(f"the answer is {stated}")
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "wav"
    if head.startswith(_WHOLE):
        return "whole"
    if _PAGE.match(head):
        raise BadBody("the answer is JSON or a page")
    if form == "pcm" and stated not in {"audio/mpeg", "audio/mp3"}:
        return "pcm"
    if head[0] == 0xFF and head[1:2] and head[1] & 0xE0 == 0xE0:
        return "whole"  # MPEG frames
    raise BadBody("the answer is no audio that can be read")


def _rate_of(media_type: str) -> int | None:
    """`audio/L16; rate=16000` -> 16000."""
    for parameter in media_type.split(";")[1:]:
        name, _, value = parameter.strip().partition("=")
        if name.lower() == "rate" and value.isdecimal():
            return int(value)
    return None


def _check_rate(rate: int) -> None:
    if not LEAST_RATE <= rate <= MOST_RATE:
        raise BadBody(f"a sample rate of {rate} Hz")


def _frames(source: Iterable[bytes], width: int, *, size: int | None) -> Iterator[bytes]:
    """Whole frames of `width` bytes, `size` bytes in all, or what comes where the size is not known."""
    rest, got = b"", 0
    for chunk in source:
        if size is not None and got == size:
            if chunk.startswith(b"RIFF"):
                raise BadBody("the answer is several files in a row")
            return
        taken = chunk if size is None else chunk[: size - got]
        got += len(taken)
        rest += taken
        whole = len(rest) // width * width
        if whole:
            yield rest[:whole]
            rest = rest[whole:]
        if len(taken) < len(chunk) and chunk[len(taken) :].startswith(b"RIFF"):
            raise BadBody("the answer is several files in a row")
    if rest or got < (size or 0):
        raise BadBody("the answer is cut short")


def _mono(frames: Iterator[bytes], sample_type: str, *, channels: int) -> Blocks:
    import numpy as np

    for data in frames:
        samples = np.frombuffer(data, sample_type)
        block = samples.astype(np.float32) / (32768.0 if samples.dtype.kind == "i" else 1.0)
        yield (block.reshape(-1, channels).mean(axis=1) if channels > 1 else block).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Format:
    """The `fmt ` chunk of a wav."""

    tag: int
    channels: int
    rate: int
    bits: int


def _wav(source: Iterator[bytes]) -> _Sound:
    """Piece by piece where the samples are of 16 bits or floats; other kinds are read whole."""
    head = b""
    for chunk in source:
        head += chunk
        found = _data_chunk(head)
        if found is not None:
            break
        if len(head) > MOST_HEADER:
            raise BadBody("a wav without samples")
    else:
        raise BadBody("a wav without samples")
    form, start, size = found
    known = size if 0 < size < UNKNOWN_SIZE else None
    sample_type = _SAMPLE_TYPES.get((form.tag, form.bits))
    if sample_type is None:
        return _odd_wav(head[:start], b"".join((head[start:], *source)), known)
    frames = _frames(chain((head[start:],), source), form.channels * form.bits // 8, size=known)
    return _Sound(_mono(frames, sample_type, channels=form.channels), form.rate)


def _data_chunk(head: bytes) -> tuple[_Format, int, int] | None:
    """The format, where the samples start and how many bytes they say to be; None while they have not begun."""
    at, form = 12, None
    while at + 8 <= len(head):
        name, size = struct.unpack_from("<4sI", head, at)
        at += 8
        if name == b"data":
            if form is None:
                raise BadBody("a wav without a format")
            return form, at, size
        if size > MOST_HEADER:
            raise BadBody("a wav whose header is damaged")
        if name == b"fmt " and at + size <= len(head):
            form = _format(head[at : at + size])
        at += size + size % 2
    return None


def _format(chunk: bytes) -> _Format:
    if len(chunk) < 16:
        raise BadBody("a wav whose header is damaged")
    tag, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if tag == _EXTENSIBLE and len(chunk) >= 26:
        (tag,) = struct.unpack_from("<H", chunk, 24)
    if not 1 <= channels <= MOST_CHANNELS:
        raise BadBody(f"a wav of {channels} channels")
    return _Format(tag, channels, rate, bits)


def _odd_wav(header: bytes, data: bytes, known: int | None) -> _Sound:
    """With sizes in its header that are true, so that libsndfile reads it."""
    if known is not None and len(data) < known:
        raise BadBody("the answer is cut short")
    data = data[:known]
    sizes = struct.pack("<I", len(header) - 8 + len(data)), struct.pack("<I", len(data))
    return _whole(header[:4] + sizes[0] + header[8:-4] + sizes[1] + data)


def _whole(data: bytes) -> _Sound:
    import soundfile

    try:
        file = soundfile.SoundFile(io.BytesIO(data))
    except soundfile.SoundFileError as error:
        raise BadBody("the answer is damaged, or audio of an unknown kind") from error
    if not 1 <= file.channels <= MOST_CHANNELS:
        raise BadBody(f"audio of {file.channels} channels")
    return _Sound(_read(file), file.samplerate)


def _read(file: Any) -> Blocks:
    """Block by block: what unpacks to hours is refused before it is unpacked."""
    import numpy as np
    import soundfile

    got = 0
    try:
        while len(block := file.read(READ_FRAMES, dtype="float32", always_2d=True)):
            got += len(block)
            yield np.ascontiguousarray(block.mean(axis=1, dtype=np.float32))
    except soundfile.SoundFileError as error:
        raise BadBody("the answer is damaged") from error
    if got < 0.9 * file.frames < UNKNOWN_FRAMES:  # some encoders only estimate it
        raise BadBody("the answer is cut short")


def _bounded(sound: _Sound, most_seconds: float) -> Blocks:
    import numpy as np

    count = 0
    for block in sound.blocks:
        count += len(block)
        if count > most_seconds * sound.rate:
            raise TooLong(f"more than {most_seconds:g} s of sound")
        if not np.isfinite(block).all():
            raise BadBody("samples that are no numbers")
        yield block
    if not count:
        raise BadBody("audio without samples")


def _resampled(blocks: Blocks, rate: int, wanted: int) -> Blocks:
    import numpy as np
    import soxr

    if rate == wanted:
        for block in blocks:
            yield np.clip(block, -1.0, 1.0)
        return
    stream = soxr.ResampleStream(rate, wanted, 1, dtype="float32")
    for block in blocks:
        yield np.clip(stream.resample_chunk(block), -1.0, 1.0)
    yield np.clip(stream.resample_chunk(np.zeros(0, np.float32), last=True), -1.0, 1.0)
