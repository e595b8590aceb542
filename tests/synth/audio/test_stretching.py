"""Speech that is stretched lasts exactly as long as asked, at its own pitch and level; too much is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.audio.stretching import stretch
from synth.errors import Permanent
from synth.types import Pcm

RATE = 24_000


def tone(seconds: float, pitch: float = 440.0) -> Pcm:
    at = np.arange(round(seconds * RATE)) / RATE
    return Pcm((0.3 * np.sin(2 * np.pi * pitch * at)).astype(np.float32), RATE)


def pitch_of(pcm: Pcm) -> float:
    spectrum = np.abs(np.fft.rfft(pcm.samples * np.hanning(len(pcm.samples))))
    return float(spectrum.argmax() * pcm.sample_rate / len(pcm.samples))


@settings(max_examples=20, deadline=None)
@given(spoken=st.floats(0.4, 5), factor=st.floats(0.5, 2.0))
def test_it_lasts_as_long_as_asked(spoken: float, factor: float) -> None:
    before = tone(spoken)
    seconds = min(max(before.duration * factor, before.duration / 2), before.duration * 2)
    assert len(stretch(before, seconds).samples) == round(seconds * RATE)


@pytest.mark.parametrize("factor", [0.5, 0.8, 1.3, 2.0])
def test_pitch_and_level_stay(factor: float) -> None:
    before = tone(2.0)
    after = stretch(before, 2.0 * factor)
    assert pitch_of(after) == pytest.approx(440, abs=2)
    assert np.sqrt(np.mean(after.samples**2)) == pytest.approx(np.sqrt(np.mean(before.samples**2)), rel=0.05)
    assert after.samples.dtype == np.float32


def test_the_same_length_is_the_same_sound() -> None:
    before = tone(1.0)
    assert stretch(before, 1.0) is before


@pytest.mark.parametrize("seconds", [0.9, 4.1])
def test_what_would_be_no_speech_any_more_is_refused(seconds: float) -> None:
    with pytest.raises(Permanent) as caught:
        stretch(tone(2.0), seconds)
    assert caught.value.code == "duration_out_of_reach"
