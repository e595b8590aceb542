"""Headerless samples: signed 16-bit, little-endian, one channel; the media type tells the rate.

Not audio/L16, which RFC 2586 defines as big-endian: a client that believed the name would play noise.
"""

from synth.audio.formats.base import COMMON_RATES, Format
from synth.audio.samples import to_int16
from synth.types import Pcm


def _encode(pcm: Pcm, _bitrate: int | None) -> bytes:
    return to_int16(pcm.samples).astype("<i2").tobytes()


FORMAT = Format(
    name="pcm",
    media_type="audio/pcm",
    extension="pcm",
    rates=dict.fromkeys(COMMON_RATES, ()),
    encoder=_encode,
    media_type_has_rate=True,
)
