"""Segments in their stored form: FLAC that gives back what went in, or says that it cannot."""

import io

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from synth.audio.pcm import CorruptAudio, from_flac, to_flac
from synth.audio.samples import from_int16, to_int16
from synth.errors import Retryable
from synth.types import Pcm

from .signals import silence, sine, speech_like

SAMPLES_16 = arrays.arrays(np.int16, st.integers(1, 5000), elements=st.integers(-32768, 32767))


@settings(max_examples=60, deadline=None)
@given(values=SAMPLES_16, rate=st.sampled_from([8000, 22050, 24000, 48000]))
def test_16_bit_samples_come_back_exactly(values: np.ndarray, rate: int) -> None:
    pcm = Pcm(from_int16(values), rate)
    back = from_flac(to_flac(pcm))
    assert back.sample_rate == rate
    assert back.samples.dtype == np.float32
    assert np.array_equal(back.samples, pcm.samples)


@settings(max_examples=60, deadline=None)
@given(samples=arrays.arrays(np.float32, st.integers(1, 500), elements=st.floats(-2, 2, width=32)))
def test_rounding_in_single_precision_is_exact(samples: np.ndarray) -> None:
    before = samples.copy()
    exact = np.clip(np.rint(samples.astype(np.float64) * 32768), -32768, 32767)
    assert np.array_equal(to_int16(samples), exact)
    assert np.array_equal(samples, before), "the samples given are not written to"


def test_other_samples_are_rounded_to_the_nearest_step_and_then_stay() -> None:
    pcm = speech_like(1.0)
    once = from_flac(to_flac(pcm))
    assert np.abs(once.samples - pcm.samples).max() <= 1 / 65536
    assert to_flac(once) == to_flac(pcm)


def test_peaks_beyond_full_scale_are_limited_not_cut() -> None:
    pcm = sine(0.5, level=1.2)
    back = from_flac(to_flac(pcm)).samples
    assert 0.95 < np.abs(back).max() < 1.0
    assert np.count_nonzero(np.abs(back) > 0.9999) == 0
    # Turned down it is still the same tone, but for the last few milliseconds at both ends.
    assert np.corrcoef(back[600:-600], pcm.samples[600:-600])[0, 1] > 0.9999


def test_silence_survives() -> None:
    assert np.array_equal(from_flac(to_flac(silence(0.3))).samples, silence(0.3).samples)


def test_nothing_to_store_is_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        to_flac(silence(0.0))


def _stereo() -> bytes:
    target = io.BytesIO()
    soundfile.write(target, np.zeros((100, 2)), 24000, format="FLAC")
    return target.getvalue()


def _wav() -> bytes:
    target = io.BytesIO()
    soundfile.write(target, np.zeros(100), 24000, format="WAV")
    return target.getvalue()


GOOD = to_flac(speech_like(1.0))
OTHER = to_flac(speech_like(1.0, seed=2))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"fLaC",
        b"not audio at all",
        GOOD[:42],
        GOOD[: len(GOOD) // 2],
        GOOD[:-1],
        GOOD[:42] + OTHER[42:],
        _stereo(),
        _wav(),
    ],
    ids=["empty", "magic", "text", "header", "half", "last byte", "other sound", "stereo", "wav"],
)
def test_what_is_not_a_whole_stored_segment_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptAudio) as caught:
        from_flac(data)
    assert caught.value.code == "audio_corrupt"
    assert isinstance(caught.value, Retryable)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_an_altered_byte_never_changes_the_sound_unnoticed(data: st.DataObject) -> None:
    altered = bytearray(GOOD)
    at = data.draw(st.integers(0, len(GOOD) - 1))
    altered[at] ^= data.draw(st.integers(1, 255))
    try:
        heard = from_flac(bytes(altered))
    except CorruptAudio:
        return
    # Some header bytes carry no sound; the rate is one that does, and is read as it stands.
    assert np.array_equal(heard.samples, from_flac(GOOD).samples)
