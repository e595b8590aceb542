"""WAV with 16-bit samples."""

from synth.audio.container import write_file
from synth.audio.formats.base import COMMON_RATES, Format
from synth.audio.samples import to_int16
from synth.types import Pcm


def _encode(pcm: Pcm, _bitrate: int | None) -> bytes:
    return write_file(to_int16(pcm.samples), sample_rate=pcm.sample_rate, container="WAV", subtype="PCM_16")


FORMAT = Format(
    name="wav",
    media_type="audio/wav",
    extension="wav",
    rates=dict.fromkeys(COMMON_RATES, ()),
    encoder=_encode,
)
