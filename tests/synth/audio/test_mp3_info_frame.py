"""The MP3's first frame tells the truth: every player skips what the encoder added, and the checksums hold."""

import hashlib
import io
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import soundfile

from synth.audio.container import BLOCK
from synth.audio.formats import get_format
from synth.types import Pcm

from .signals import decoded, speech_like

MP3 = get_format("mp3")
EDGES = [(rate, bitrate) for rate in MP3.sample_rates for bitrate in (MP3.rates[rate][0], MP3.rates[rate][-1])]
LENGTHS = [1, 47, 575, 576, 577, 1105, 1152, 1153, 2305]
# Of less than half a frame ffmpeg makes no clip, whoever encoded it: it plays 530 samples, or takes it for video.
LENGTHS_FOR_FFMPEG = [575, 1105, 1152, 2305]


def _encoded(samples: int, rate: int, bitrate: int) -> bytes:
    pcm = Pcm(speech_like(samples / rate + 0.1, rate).samples[:samples], rate)
    return MP3.encode(pcm, sample_rate=rate, bitrate=bitrate)


@dataclass
class Frames:
    """What a reader that knows only the headers of the frames finds."""

    lengths: list[int]
    mpeg_1: bool
    info_at: int

    @property
    def samples_each(self) -> int:
        return 1152 if self.mpeg_1 else 576


def _frames(data: bytes, rate: int, bitrate: int) -> Frames:
    mpeg_1 = rate >= 32000
    lengths = []
    while sum(lengths) < len(data):
        at = sum(lengths)
        assert (data[at], data[at + 1] & 0xE6) == (0xFF, 0xE2), f"no Layer III header at byte {at}"
        padded = data[at + 2] >> 1 & 1
        lengths.append((144_000 if mpeg_1 else 72_000) * bitrate // rate + padded)
    assert sum(lengths) == len(data)
    return Frames(lengths, mpeg_1, info_at=4 + (17 if mpeg_1 else 9))


def _crc16(data: bytes) -> int:
    """CRC-16 with the polynomial 0x8005, mirrored, bit by bit."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


@pytest.mark.parametrize(("rate", "bitrate"), EDGES)
@pytest.mark.parametrize("samples", LENGTHS)
def test_libsndfile_plays_exactly_the_samples(samples: int, rate: int, bitrate: int) -> None:
    played, played_rate = soundfile.read(io.BytesIO(_encoded(samples, rate, bitrate)))
    assert (len(played), played_rate) == (samples, rate)


@pytest.mark.parametrize(("rate", "bitrate"), [(8000, 24), (22050, 56), (24000, 64), (44100, 320), (48000, 64)])
@pytest.mark.parametrize("samples", LENGTHS_FOR_FFMPEG)
def test_ffmpeg_plays_exactly_the_samples(samples: int, rate: int, bitrate: int, tmp_path: Path) -> None:
    assert len(decoded(_encoded(samples, rate, bitrate), tmp_path, rate=rate).samples) == samples


def test_a_clip_of_several_blocks_plays_exactly_the_samples(tmp_path: Path) -> None:
    samples = 2 * BLOCK + 77
    assert len(decoded(_encoded(samples, 24000, 64), tmp_path, rate=24000).samples) == samples


@pytest.mark.parametrize(("rate", "bitrate"), EDGES)
def test_the_figures_are_those_of_the_file(rate: int, bitrate: int) -> None:
    samples = 20_000
    data = _encoded(samples, rate, bitrate)
    frames = _frames(data, rate, bitrate)
    tag = data[frames.info_at :]
    name, fields, count, size = struct.unpack(">4sIII", tag[:16])
    assert (name, fields, count, size) == (b"Info", 0b1111, len(frames.lengths) - 1, len(data))
    table = list(tag[16:116])
    assert table == sorted(table)
    assert (table[0], table[50]) == (0, 128)
    extension = tag[120:156]
    assert (extension[:9], extension[9], extension[20]) == (b"LAME3.100", 1, min(bitrate, 255))
    delay, padding = divmod(int.from_bytes(extension[21:24], "big"), 1 << 12)
    assert delay == 576
    assert count * frames.samples_each == delay + samples + padding
    length, music, own = struct.unpack(">IHH", extension[28:36])
    assert length == len(data)
    assert music == _crc16(data[frames.lengths[0] :])
    assert own == _crc16(data[: frames.info_at + 154])


@pytest.mark.parametrize(("rate", "bitrate"), EDGES)
def test_the_first_frame_of_sound_needs_no_bytes_of_the_one_before(rate: int, bitrate: int) -> None:
    data = _encoded(20_000, rate, bitrate)
    frames = _frames(data, rate, bitrate)
    after_header = int.from_bytes(data[frames.lengths[0] + 4 :][:2], "big")
    assert after_header >> (7 if frames.mpeg_1 else 8) == 0


def test_the_same_samples_give_the_same_bytes_here_and_in_another_process() -> None:
    program = """
import hashlib
from tests.synth.audio.test_mp3_info_frame import EDGES, _encoded
print(hashlib.sha256(b"".join(_encoded(30_000, *edge) for edge in EDGES)).hexdigest())
"""
    elsewhere = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    here, again = (hashlib.sha256(b"".join(_encoded(30_000, *edge) for edge in EDGES)).hexdigest() for _ in range(2))
    assert here == again == elsewhere.stdout.strip()


def test_the_encoder_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    for rate, bitrate in EDGES:
        _encoded(1, rate, bitrate)
    assert capfd.readouterr() == ("", "")
