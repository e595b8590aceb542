"""MP3 at constant bitrates, by LAME through libsndfile.

Only bitrates whose frames have room for the Info header are offered: without it a player knows neither the length
nor the encoder's delay, and plays up to 0.2 s of silence too much.
"""

from synth.audio.container import write_file
from synth.audio.formats.base import COMMON_RATES, Format
from synth.types import Pcm

MPEG_1 = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
MPEG_2 = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
MPEG_2_5 = (8, 16, 24, 32, 40, 48, 56, 64)
INFO_HEADER_BYTES = 177


def _bitrates(sample_rate: int) -> tuple[int, ...]:
    table = _table(sample_rate)
    bytes_per_kbit = (144_000 if table is MPEG_1 else 72_000) / sample_rate
    return tuple(bitrate for bitrate in table if bitrate * bytes_per_kbit >= INFO_HEADER_BYTES)


def _table(sample_rate: int) -> tuple[int, ...]:
    if sample_rate >= 32000:
        return MPEG_1
    return MPEG_2 if sample_rate >= 16000 else MPEG_2_5


def _encode(pcm: Pcm, bitrate: int | None) -> bytes:
    assert bitrate is not None  # noqa: S101 - Format.encode has checked it
    table = _table(pcm.sample_rate)
    low, high = table[0], table[-1]
    # libsndfile turns the level into whole kbit/s between the table's ends and cuts the fraction: aim between two.
    level = min(1.0, max(0.0, (high - bitrate - 0.5) / (high - low)))
    return write_file(
        pcm.samples,
        sample_rate=pcm.sample_rate,
        container="MP3",
        subtype="MPEG_LAYER_III",
        compression_level=level,
        bitrate_mode="CONSTANT",
    )


FORMAT = Format(
    name="mp3",
    media_type="audio/mpeg",
    extension="mp3",
    rates={rate: _bitrates(rate) for rate in COMMON_RATES},
    encoder=_encode,
    default_bitrate=64,
)
