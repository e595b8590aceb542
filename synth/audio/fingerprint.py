"""Names a sound by its samples alone: not by its file's name, container or tags. Used for references."""

from __future__ import annotations

import hashlib
import struct

from synth.audio.samples import to_int16
from synth.types import CLONED, Pcm

HEX_DIGITS = 32


def fingerprint(pcm: Pcm) -> str:
    """`ref:` and 32 hexadecimal digits: of the rate, and of the mono samples rounded to 16 bits, low byte first.

    The rate comes first, as 32 bits, so that the same samples played faster are another sound.
    """
    digest = hashlib.sha256(struct.pack("<I", pcm.sample_rate))
    digest.update(to_int16(pcm.samples).astype("<i2", copy=False).tobytes())
    return CLONED + digest.hexdigest()[:HEX_DIGITS]
