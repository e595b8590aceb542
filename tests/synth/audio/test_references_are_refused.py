"""What cannot be a reference is refused with a stable code and words that say what to do."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from synth.audio import m4a
from synth.audio.apart import read_reference_apart
from synth.audio.reading import read_reference
from synth.audio.references import PASSING, REFUSALS, ReferenceLimits, ReferenceRefused
from synth.types import Pcm

from .bombs import silent_flac
from .signals import after, silence, sine
from .uploads import LIMITS, by_ffmpeg, encoded, file_of, refusal, spoken, wav

NOISE = Pcm((0.1 * np.random.default_rng(3).standard_normal(4 * 24000)).astype(np.float32), 24000)
WAV, FLAC, OGG, OPUS, MP3 = (
    file_of(spoken(), *kind) for kind in (("WAV",), ("FLAC",), ("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3",))
)


def _noisy(level: float) -> bytes:
    return file_of(Pcm(spoken(level=0.05).samples + level * NOISE.samples, 24000), "WAV", "FLOAT")


def _cut_off(container: str) -> bytes:
    return file_of(Pcm(np.clip(spoken(level=0.8).samples, -1, 1), 24000), container)


def _with(value: float) -> bytes:
    samples = spoken().samples.copy()
    samples[100] = value
    return file_of(Pcm(samples, 24000), "WAV", "FLOAT")


CASES = {
    "nothing": (b"", "not_audio"),
    "a byte": (b"R", "not_audio"),
    "text": (b"Hello, this is a voice." * 100, "not_audio"),
    "a web page": (b"<!doctype html><title>404</title>" * 10, "not_audio"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(5000), "not_audio"),
    "another RIFF": (b"RIFF\x24\0\0\0WEBPVP8 " + bytes(5000), "not_audio"),
    "one frame header only": (b"\xff\xfb\x90\x00" + bytes(5000), "not_audio"),
    "a header only": (WAV[:44], "truncated"),
    "aiff": (file_of(spoken(), "AIFF"), "unsupported_format"),
    "caf": (file_of(spoken(), "CAF"), "unsupported_format"),
    "webm": (b"\x1aE\xdf\xa3" + bytes(5000), "unsupported_format"),
    "a rare codec in a wav": (file_of(spoken(), "WAV", "MS_ADPCM"), "unsupported_format"),
    "too large": (WAV + bytes(LIMITS.max_bytes), "too_large"),
    "too short": (file_of(spoken(2.99), "FLAC"), "too_short"),
    "too long": (file_of(spoken(31, 8000), "FLAC"), "too_long"),
    "too long by a little": (file_of(spoken(30.15, 8000), "WAV"), "too_long"),
    "ten hours in 70 kB": (silent_flac(hours=10), "bomb"),
    "a quarter of an hour": (silent_flac(hours=0.25), "too_long"),
    "zeros": (file_of(silence(4), "WAV"), "silent"),
    "a constant": (file_of(Pcm(np.full(96000, 0.3, np.float32), 24000), "WAV"), "silent"),
    "a whisper of a level": (file_of(spoken(level=0.0005), "WAV"), "silent"),
    "a word in silence": (file_of(after(spoken(0.5), silence(5)), "WAV"), "silent"),
    "channels that cancel": (encoded(np.outer(spoken().samples, [1, -1]), 24000, "WAV", "PCM_24"), "silent"),
    "clipped wav": (_cut_off("WAV"), "clipped"),
    "clipped flac": (_cut_off("FLAC"), "clipped"),
    "clipped mp3": (_cut_off("MP3"), "clipped"),
    "one channel clipped": (
        encoded(np.stack([spoken().samples, np.clip(spoken(level=0.8).samples, -1, 1)], 1), 24000, "WAV"),
        "clipped",
    ),
    "noise alone": (file_of(NOISE, "WAV"), "too_noisy"),
    "speech in noise": (_noisy(0.3), "too_noisy"),
    "a tone": (file_of(sine(4), "WAV"), "too_noisy"),
    "not a number": (_with(float("nan")), "not_finite"),
    "infinite": (_with(float("inf")), "not_finite"),
    "half a wav": (WAV[: len(WAV) // 2], "truncated"),
    "half a flac": (FLAC[: len(FLAC) * 9 // 10], "truncated"),
    "half an ogg": (OGG[: len(OGG) * 9 // 10], "truncated"),
    "half an opus": (OPUS[: len(OPUS) * 9 // 10], "truncated"),
    "half an mp3": (MP3[: len(MP3) * 9 // 10], "truncated"),
    "six channels": (file_of(spoken(), "WAV", channels=6), "too_many_channels"),
    "a rate beyond any": (wav(bytes(10**5), rate=2**31 - 1), "bomb"),
    "a telephone of long ago": (file_of(spoken(rate=4000), "WAV"), "sample_rate_too_low"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_kind_has_its_code_and_a_sentence(name: str) -> None:
    data, code = CASES[name]
    refused = refusal(read_reference, data)
    assert refused is not None
    assert refused.code == code
    sentence = refused.message % refused.params
    assert sentence.endswith((".", "moment."))
    assert "%(" not in sentence


@pytest.mark.parametrize("name", ["text", "aiff", "too short", "clipped mp3", "half a flac", "six channels", "bomb"])
def test_the_process_apart_says_the_same(name: str) -> None:
    data = CASES.get(name, CASES["ten hours in 70 kB"])[0]
    apart, here = refusal(read_reference_apart, data), refusal(read_reference, data)
    assert apart is not None
    assert here is not None
    assert (apart.code, apart.params) == (here.code, here.params)


def test_m4a_is_refused_where_nothing_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = by_ffmpeg(WAV, tmp_path, "clip.m4a", "-c:a", "aac")
    monkeypatch.setattr(m4a, "is_readable", lambda: False)
    refused = refusal(read_reference_apart, data)
    assert refused is not None
    assert (refused.code, refused.params) == ("unsupported_format", {"format": "m4a"})


def test_a_damaged_m4a_is_refused(tmp_path: Path) -> None:
    assert shutil.which("ffmpeg")
    data = by_ffmpeg(WAV, tmp_path, "clip.m4a", "-c:a", "aac")
    refused = refusal(read_reference_apart, data[: len(data) // 2])
    assert refused is not None
    assert refused.code == "undecodable"


def test_the_limits_are_the_callers() -> None:
    strict = ReferenceLimits(shortest=5.0, least_snr_db=60.0)
    assert "5.0 s" in str(refusal(read_reference, WAV, limits=strict))
    long = file_of(spoken(6), "WAV")
    refused = refusal(read_reference, long, limits=strict)
    assert refused is not None
    assert refused.code == "too_noisy"
    assert refusal(read_reference, long, limits=ReferenceLimits(max_bytes=1000)) is not None


def test_only_the_machines_own_troubles_may_pass() -> None:
    assert set(PASSING) < set(REFUSALS)
    assert ReferenceRefused("decoder_timed_out").may_pass
    assert not ReferenceRefused("undecodable").may_pass
