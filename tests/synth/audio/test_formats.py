"""Every format at every rate and bitrate it offers, as ffprobe and ffmpeg read it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from synth.audio.formats import Format, format_names, get_format

from .signals import decoded, played, probe, speech_like

FORMATS = [get_format(name) for name in format_names()]
CODECS = {"mp3": "mp3", "opus": "opus", "wav": "pcm_s16le", "flac": "flac", "pcm": "pcm_s16le"}
SECONDS = 2.0

AT_EVERY_RATE = [
    pytest.param(format_, rate, id=f"{format_.name}-{rate}") for format_ in FORMATS for rate in format_.sample_rates
]


def _raw(format_: Format, rate: int) -> tuple[str, ...]:
    return ("-f", "s16le", "-ar", str(rate), "-ac", "1") if format_.name == "pcm" else ()


def test_the_folder_offers_the_five_formats() -> None:
    assert format_names() == ("flac", "mp3", "opus", "pcm", "wav")
    assert {format_.name: format_.media_type_for(24000) for format_ in FORMATS} == {
        "flac": "audio/flac",
        "mp3": "audio/mpeg",
        "opus": "audio/ogg;codecs=opus",
        "pcm": "audio/pcm;rate=24000",
        "wav": "audio/wav",
    }


def test_an_unknown_format_is_a_lookup_error_that_names_the_known_ones() -> None:
    with pytest.raises(LookupError, match="mp3"):
        get_format("aac")


def test_reading_every_format_loads_neither_numpy_nor_an_audio_library() -> None:
    program = """
import sys
from synth.audio.formats import format_names, get_format
for name in format_names():
    get_format(name).default_bitrate_for(24000)
heavy = ("numpy", "soundfile", "soxr", "scipy", "pyloudnorm", "cffi", "lameenc", "fastcrc")
print([name for name in heavy if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("format_", FORMATS, ids=lambda format_: format_.name)
def test_the_defaults_are_offered(format_: Format) -> None:
    assert format_.default_sample_rate in format_.sample_rates
    for rate in format_.sample_rates:
        format_.require(sample_rate=rate, bitrate=format_.default_bitrate_for(rate))


@pytest.mark.parametrize(
    ("name", "rate", "bitrate"),
    [
        ("mp3", 8000, 128),  # MPEG 2.5 ends at 64
        ("mp3", 24000, 320),  # MPEG 2 ends at 160
        ("mp3", 48000, 144),  # MPEG 1 has no 144
        ("mp3", 24000, 32),  # no room for the Info header
        ("mp3", 24000, None),
        ("mp3", 96000, 128),
        ("opus", 44100, 32),
        ("opus", 24000, 31),
        ("opus", 24000, 16),
        ("wav", 24000, 128),
        ("flac", 7000, None),
    ],
)
def test_a_pair_that_does_not_exist_is_refused(name: str, rate: int, bitrate: int | None) -> None:
    with pytest.raises(LookupError, match=name):
        get_format(name).encode(speech_like(0.5), sample_rate=rate, bitrate=bitrate)


def test_nothing_to_encode_is_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        get_format("wav").encode(speech_like(0.0), sample_rate=24000, bitrate=None)


@pytest.mark.parametrize(("format_", "rate"), AT_EVERY_RATE)
def test_codec_channel_rate_and_duration_are_read_back(format_: Format, rate: int, tmp_path: Path) -> None:
    pcm = speech_like(SECONDS)
    data = format_.encode(pcm, sample_rate=rate, bitrate=format_.default_bitrate_for(rate))
    stream = probe(data, tmp_path, demuxer=_raw(format_, rate))
    assert (stream["codec_name"], stream["channels"]) == (CODECS[format_.name], 1)
    # Opus always plays at 48 kHz; its header keeps the rate that was encoded.
    assert int(stream["sample_rate"]) == (48000 if format_.name == "opus" else rate)
    duration = float(stream["container"]["duration"])
    if format_.name == "mp3":  # counts whole frames, with the delay and the padding that a player skips
        assert 0 <= duration - SECONDS <= (1105 + 2 * 1152) / rate
    else:
        assert duration == pytest.approx(SECONDS, abs=0.05)


@pytest.mark.parametrize("rate", get_format("mp3").sample_rates)
def test_mp3_has_every_bitrate_and_plays_for_exactly_as_long_as_the_samples(rate: int, tmp_path: Path) -> None:
    pcm, mp3 = speech_like(1.2345, rate), get_format("mp3")
    bitrates = mp3.bitrates_for(rate)
    clips = [mp3.encode(pcm, sample_rate=rate, bitrate=bitrate) for bitrate in bitrates]
    assert all(b"Info" in data[:64] and b"LAME" in data[:256] for data in clips)
    for bitrate, clip in zip(bitrates, played(clips, tmp_path, rate=rate), strict=True):
        assert (clip.codec, clip.stream_bitrate) == ("mp3", bitrate * 1000)
        assert clip.file_bitrate == pytest.approx(bitrate * 1000, rel=0.1)
        assert len(clip.samples) == len(pcm.samples)


@pytest.mark.parametrize("rate", get_format("opus").sample_rates)
def test_opus_keeps_to_every_bitrate_over_a_while(rate: int, tmp_path: Path) -> None:
    pcm, opus = speech_like(10.0), get_format("opus")
    bitrates = opus.bitrates_for(rate)
    clips = [opus.encode(pcm, sample_rate=rate, bitrate=bitrate) for bitrate in bitrates]
    for bitrate, clip in zip(bitrates, played(clips, tmp_path, rate=48000), strict=True):
        assert clip.codec == "opus"
        assert clip.file_bitrate == pytest.approx(bitrate * 1000, rel=0.1)


@pytest.mark.parametrize("format_", [get_format("mp3"), get_format("opus")], ids=["mp3", "opus"])
def test_a_lossy_format_plays_the_same_sound_at_the_same_place(format_: Format, tmp_path: Path) -> None:
    pcm = speech_like(2.0)
    data = format_.encode(pcm, sample_rate=24000, bitrate=format_.bitrates_for(24000)[-1])
    heard = decoded(data, tmp_path, rate=24000).samples
    assert abs(len(heard) - len(pcm.samples)) < 24000 * 0.05
    length = min(len(heard), len(pcm.samples))
    assert np.corrcoef(heard[:length], pcm.samples[:length])[0, 1] > 0.95


@pytest.mark.parametrize("name", ["wav", "flac", "pcm"])
def test_a_lossless_format_keeps_every_16_bit_sample(name: str, tmp_path: Path) -> None:
    pcm = speech_like(0.7)
    data = get_format(name).encode(pcm, sample_rate=24000, bitrate=None)
    expected = np.rint(pcm.samples.astype(np.float64) * 32768).astype(np.int16)
    if name == "pcm":
        read = np.frombuffer(data, dtype="<i2")
    else:
        read = np.rint(decoded(data, tmp_path, rate=24000).samples * 32768).astype(np.int16)
    assert np.array_equal(read, expected)


@pytest.mark.parametrize("rate", get_format("opus").sample_rates)
def test_the_opus_header_tells_the_rate_that_was_encoded(rate: int) -> None:
    data = get_format("opus").encode(speech_like(0.5), sample_rate=rate, bitrate=32)
    at = data.index(b"OpusHead") + 12
    assert int.from_bytes(data[at : at + 4], "little") == rate
