"""MP3 at constant bitrates, by LAME through lameenc, whose LAME takes a third of the time of libsndfile's.

Only bitrates whose frames have room for the Info frame's figures are offered: without them a player knows neither the
length nor the encoder's delay, and plays up to 0.2 s of silence too much.
"""

from collections.abc import Iterator

from synth.audio.container import BLOCK
from synth.audio.formats.base import COMMON_RATES, Format
from synth.audio.info_frame import LONGEST_TAG, with_info_frame
from synth.audio.samples import to_int16
from synth.types import Pcm

MPEG_1 = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
MPEG_2 = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
MPEG_2_5 = (8, 16, 24, 32, 40, 48, 56, 64)
QUALITY = 3  # the default of LAME itself


def _bitrates(sample_rate: int) -> tuple[int, ...]:
    table = _table(sample_rate)
    bytes_per_kbit = (144_000 if table is MPEG_1 else 72_000) / sample_rate
    return tuple(bitrate for bitrate in table if bitrate * bytes_per_kbit >= LONGEST_TAG)


def _table(sample_rate: int) -> tuple[int, ...]:
    if sample_rate >= 32000:
        return MPEG_1
    return MPEG_2 if sample_rate >= 16000 else MPEG_2_5


def _encode(pcm: Pcm, bitrate: int | None) -> bytes:
    assert bitrate is not None  # noqa: S101 - Format.encode has checked it
    return with_info_frame(
        b"".join(_frames(pcm, bitrate)),
        samples=len(pcm.samples),
        sample_rate=pcm.sample_rate,
        bitrate=bitrate,
        quality=QUALITY,
    )


def _frames(pcm: Pcm, bitrate: int) -> Iterator[bytes]:
    import lameenc

    encoder = lameenc.Encoder()
    encoder.silence()  # else LAME would report to the worker's standard error
    encoder.set_channels(1)
    encoder.set_in_sample_rate(pcm.sample_rate)
    encoder.set_out_sample_rate(pcm.sample_rate)
    encoder.set_bit_rate(bitrate)
    encoder.set_quality(QUALITY)
    samples = to_int16(pcm.samples)
    for start in range(0, len(samples), BLOCK):
        yield encoder.encode(samples[start : start + BLOCK].tobytes())
    yield encoder.flush()


FORMAT = Format(
    name="mp3",
    media_type="audio/mpeg",
    extension="mp3",
    rates={rate: _bitrates(rate) for rate in COMMON_RATES},
    encoder=_encode,
    default_bitrate=64,
)
