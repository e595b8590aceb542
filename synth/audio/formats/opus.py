"""Opus in Ogg, by libopus through libsndfile.

A bitrate is a target: libsndfile offers no constant mode. Ten seconds of unbroken speech come within a tenth of it;
pauses cost less, and 1.4 KB of headers weigh on short clips. Below 24 kbit/s the target is missed by up to a fifth: not
offered. Opus always plays at 48 kHz; the header tells the rate that was encoded.
"""

from synth.audio.container import write_file
from synth.audio.formats.base import Format
from synth.audio.ogg import with_stable_serial
from synth.types import Pcm

SAMPLE_RATES = (8000, 12000, 16000, 24000, 48000)
BITRATES = (24, 32, 48, 64, 96, 128)
# libsndfile maps its compression level 0 to 1 onto these, for one channel.
HIGHEST, LOWEST = 256, 6


def _encode(pcm: Pcm, bitrate: int | None) -> bytes:
    assert bitrate is not None  # noqa: S101 - Format.encode has checked it
    stream = write_file(
        pcm.samples,
        sample_rate=pcm.sample_rate,
        container="OGG",
        subtype="OPUS",
        compression_level=(HIGHEST - bitrate) / (HIGHEST - LOWEST),
    )
    return with_stable_serial(stream)


FORMAT = Format(
    name="opus",
    media_type="audio/ogg;codecs=opus",
    extension="opus",
    rates=dict.fromkeys(SAMPLE_RATES, BITRATES),
    encoder=_encode,
    default_bitrate=32,
)
