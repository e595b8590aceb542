"""Resampling keeps the duration, the pitch and the level, and lets nothing fold back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.audio.pcm import resample
from synth.types import Pcm

from .signals import sine, speech_like

RATES = st.sampled_from([8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000])


@settings(max_examples=80, deadline=None)
@given(length=st.integers(1, 60_000), source=RATES, target=RATES)
def test_the_duration_is_kept_to_a_sample(length: int, source: int, target: int) -> None:
    pcm = Pcm(np.random.default_rng(length).uniform(-0.5, 0.5, length).astype(np.float32), source)
    result = resample(pcm, target)
    assert result.sample_rate == target
    assert result.samples.dtype == np.float32
    assert abs(len(result.samples) - length * target / source) <= 1


@pytest.mark.parametrize("target", [8000, 16000, 22050, 44100, 48000])
def test_a_tone_stays_the_same_tone(target: int) -> None:
    result = resample(sine(1.0, 24000, pitch=440.0), target)
    expected = sine(1.0, target, pitch=440.0)
    middle = slice(target // 10, -target // 10)
    assert np.abs(result.samples[middle] - expected.samples[middle]).max() < 0.005


def test_a_tone_above_the_new_range_is_gone_not_folded() -> None:
    result = resample(sine(1.0, 24000, pitch=6000.0), 8000)
    assert np.abs(result.samples[800:-800]).max() < 0.001


def test_the_same_rate_changes_nothing() -> None:
    pcm = speech_like(0.2)
    assert resample(pcm, 24000).samples is pcm.samples


def test_nothing_stays_nothing() -> None:
    assert resample(Pcm(np.zeros(0, dtype=np.float32), 24000), 8000) == Pcm(pytest.approx(np.zeros(0)), 8000)
