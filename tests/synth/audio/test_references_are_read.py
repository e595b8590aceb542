"""A usable recording is taken whatever its container, codec, channels, tags or rate; what is kept is mono."""

from pathlib import Path

import numpy as np
import pytest

from synth.audio.apart import read_reference_apart
from synth.audio.pcm import from_flac, to_flac
from synth.audio.reading import read_reference
from synth.audio.references import ReferenceAudio
from synth.types import Pcm

from .uploads import LIMITS, by_ffmpeg, encoded, file_of, id3, spoken, wav

FILES = {
    "wav of 8 bits": ("wav", "WAV", "PCM_U8"),
    "wav of 16 bits": ("wav", "WAV", "PCM_16"),
    "wav of 24 bits": ("wav", "WAV", "PCM_24"),
    "wav of 32 bits": ("wav", "WAV", "PCM_32"),
    "wav of floats": ("wav", "WAV", "FLOAT"),
    "wav of doubles": ("wav", "WAV", "DOUBLE"),
    "wav by mu-law": ("wav", "WAV", "ULAW"),
    "wav extensible": ("wav", "WAVEX", "PCM_16"),
    "wav beyond 4 GB": ("wav", "RF64", "PCM_16"),
    "flac": ("flac", "FLAC", "PCM_16"),
    "flac of 24 bits": ("flac", "FLAC", "PCM_24"),
    "ogg vorbis": ("ogg", "OGG", "VORBIS"),
    "ogg opus": ("ogg", "OGG", "OPUS"),
    "mp3": ("mp3", "MP3", None),
}


def _like(reference: ReferenceAudio, pcm: Pcm, *, correlation: float) -> None:
    assert reference.pcm.sample_rate == pcm.sample_rate
    assert reference.pcm.samples.dtype == np.float32
    assert abs(reference.seconds - pcm.duration) < 0.1
    length = min(len(reference.pcm.samples), len(pcm.samples))
    assert np.corrcoef(reference.pcm.samples[:length], pcm.samples[:length])[0, 1] > correlation


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("name", FILES)
def test_a_recording_is_read_in_every_format(name: str, channels: int) -> None:
    container, *kind = FILES[name]
    reference = read_reference(file_of(spoken(), *kind, channels=channels))
    assert reference.format == container
    _like(reference, spoken(), correlation=0.9)


@pytest.mark.parametrize("name", ["wav of 16 bits", "flac of 24 bits", "ogg vorbis", "ogg opus", "mp3"])
def test_reading_apart_gives_the_very_same(name: str) -> None:
    data = file_of(spoken(), *FILES[name][1:])
    apart, here = read_reference_apart(data, limits=LIMITS), read_reference(data)
    assert np.array_equal(apart.pcm.samples, here.pcm.samples)
    assert (apart.fingerprint, apart.format, apart.snr_db) == (here.fingerprint, here.format, here.snr_db)


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050, 32000, 44100, 48000])
def test_a_rate_up_to_48_khz_is_kept(rate: int) -> None:
    _like(read_reference(file_of(spoken(rate=rate), "FLAC")), spoken(rate=rate), correlation=0.999)


@pytest.mark.parametrize("rate", [88200, 96000, 192000])
def test_a_higher_rate_becomes_48_khz_also_apart(rate: int) -> None:
    reference = read_reference_apart(file_of(spoken(rate=rate), "WAV"), limits=LIMITS)
    _like(reference, spoken(rate=48000), correlation=0.8)


def test_two_channels_are_mixed_and_none_is_dropped() -> None:
    left, right = spoken(seed=1), spoken(seed=2)
    both = np.stack([left.samples, right.samples], axis=1)
    mixed = read_reference(encoded(both, 24000, "WAV", "FLOAT")).pcm.samples
    assert np.abs(mixed - (left.samples + right.samples) / 2).max() <= 1 / 65536 + 1e-7


@pytest.mark.parametrize("name", FILES)
def test_tags_in_front_hide_no_container(name: str) -> None:
    data = file_of(spoken(), *FILES[name][1:])
    tagged = id3(b"TIT2 a title" + bytes(500)) + id3(b"") + data
    assert read_reference(tagged).fingerprint == read_reference(data).fingerprint


@pytest.mark.parametrize("size", [0xFFFFFFFF, 0x7FFFFFFF])
def test_a_wav_from_a_recorder_that_could_not_go_back_to_its_header_is_read(size: int) -> None:
    samples = (spoken().samples * 32767).astype("<i2").tobytes()
    reference = read_reference(wav(samples, said=size))
    assert reference.seconds == pytest.approx(4.0, abs=0.01)


def test_flac_from_a_pipe_does_not_tell_its_length_and_is_read(tmp_path: Path) -> None:
    streamed = bytearray(file_of(spoken(), "FLAC"))
    streamed[21] &= 0xF0  # the 36 bits of STREAMINFO that count the samples
    streamed[22:26] = bytes(4)
    assert read_reference(bytes(streamed)).seconds == 4.0


def test_mp3_without_a_table_of_its_length_is_read(tmp_path: Path) -> None:
    flac = file_of(spoken(), "FLAC")
    variable = by_ffmpeg(flac, tmp_path, "plain.mp3", "-q:a", "5", "-write_xing", "0")
    _like(read_reference(variable), spoken(), correlation=-1)
    constant = by_ffmpeg(flac, tmp_path, "plain.mp3", "-b:a", "64k", "-ac", "2", "-ar", "44100", "-write_xing", "0")
    assert read_reference(constant).seconds == pytest.approx(4.0, abs=0.15)


@pytest.mark.parametrize("options", [("-c:a", "aac"), ("-c:a", "aac", "-movflags", "+faststart"), ("-c:a", "alac")])
def test_m4a_is_read_by_ffmpeg_where_it_is_installed(tmp_path: Path, options: tuple[str, ...]) -> None:
    data = by_ffmpeg(file_of(spoken(), "WAV"), tmp_path, "clip.m4a", *options)
    reference = read_reference_apart(data, limits=LIMITS)
    assert (reference.format, reference.pcm.sample_rate) == ("m4a", 24000)
    assert reference.seconds == pytest.approx(4.0, abs=0.15)


def test_what_is_kept_survives_being_stored(tmp_path: Path) -> None:
    reference = read_reference(file_of(spoken(level=0.3), "WAV", "FLOAT"))
    assert np.array_equal(from_flac(to_flac(reference.pcm)).samples, reference.pcm.samples)
    assert read_reference(to_flac(reference.pcm)).fingerprint == reference.fingerprint


@pytest.mark.parametrize("seconds", [3.0, 30.0])
def test_the_bounds_themselves_are_fine(seconds: float) -> None:
    assert read_reference(file_of(spoken(seconds), "FLAC")).seconds == seconds
