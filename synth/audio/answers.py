"""What the decoding process says to the one that started it: a framed answer. Used by sandbox.py and apart.py.

`RREF`, the length of a JSON header as 32 bits, the header, then 16-bit samples. What comes back may be the work of a
hostile file: nothing of it is believed unchecked, and texts come from our own table.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

from synth.audio.fingerprint import fingerprint
from synth.audio.references import REFUSALS, ReferenceAudio, ReferenceLimits, ReferenceRefused
from synth.audio.samples import from_int16, to_int16
from synth.types import Pcm

MAGIC = b"RREF"
PREFIX = struct.Struct("<4sI")
MAX_HEADER = 4096
MAX_PARAM = 100
# Beyond the longest: what codecs pad.
SLACK_S = 1.0


def accepted(reference: ReferenceAudio) -> bytes:
    samples = to_int16(reference.pcm.samples).astype("<i2", copy=False).tobytes()
    header = {"format": reference.format, "rate": reference.pcm.sample_rate, "snr_db": reference.snr_db}
    return _framed(header) + samples


def refused(refusal: ReferenceRefused) -> bytes:
    return _framed({"code": refusal.code, "params": refusal.params})


def most_bytes(limits: ReferenceLimits) -> int:
    return PREFIX.size + MAX_HEADER + 2 * round((limits.longest + SLACK_S) * limits.kept_rate)


def parse(answer: bytes, *, limits: ReferenceLimits) -> ReferenceAudio:
    """Raises ReferenceRefused for an answer that refuses, ValueError for one that is not whole or not ours."""
    header, samples = _unframed(answer)
    if "code" in header:
        raise _refusal(header)
    rate, ratio, name = header["rate"], header["snr_db"], header["format"]
    if not (isinstance(rate, int) and limits.lowest_rate <= rate <= limits.kept_rate):
        raise ValueError("the answer has an impossible rate")
    if not (isinstance(ratio, float) and math.isfinite(ratio) and name in ("wav", "mp3", "flac", "ogg", "m4a")):
        raise ValueError("the answer's header has other values")
    pcm = Pcm(_values(samples), rate)
    if not limits.shortest <= pcm.duration <= limits.longest + SLACK_S:
        raise ValueError("the answer has too few or too many samples")
    return ReferenceAudio(pcm=pcm, fingerprint=fingerprint(pcm), format=name, snr_db=ratio)


def _framed(header: dict[str, Any]) -> bytes:
    text = json.dumps(header).encode()
    return PREFIX.pack(MAGIC, len(text)) + text


def _unframed(answer: bytes) -> tuple[dict[str, Any], bytes]:
    if len(answer) < PREFIX.size:
        raise ValueError("the answer is cut")
    magic, length = PREFIX.unpack_from(answer)
    if magic != MAGIC or length > MAX_HEADER or PREFIX.size + length > len(answer):
        raise ValueError("the answer is not framed")
    try:
        header = json.loads(answer[PREFIX.size : PREFIX.size + length])
    except RecursionError as error:
        raise ValueError("the answer's header is nested too deep") from error
    if not isinstance(header, dict) or not ("code" in header or header.keys() == {"format", "rate", "snr_db"}):
        raise ValueError("the answer's header has other fields")
    return header, answer[PREFIX.size + length :]


def _refusal(header: dict[str, Any]) -> ReferenceRefused:
    code, params = header["code"], header.get("params")
    if not isinstance(code, str) or code not in REFUSALS or not isinstance(params, dict):
        raise ValueError("the answer refuses for no reason of ours")
    if not all(_is_plain(value) for value in params.values()):
        raise ValueError("the answer's refusal holds too much")
    try:
        return ReferenceRefused(code, params)
    except KeyError as error:
        raise ValueError("the answer's refusal lacks a figure") from error


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int) and len(str(value)) <= MAX_PARAM


def _values(samples: bytes) -> Any:
    import numpy as np

    return from_int16(np.frombuffer(samples, dtype="<i2").astype(np.int16))
