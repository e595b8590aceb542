"""Loudness and peaks as ffmpeg's meter reads them, not as our own does."""

import math

import numpy as np
import pyloudnorm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.audio.limiter import METER_MARGIN_DB, limit_peaks, true_peak
from synth.audio.loudness import CHUNK_STEPS, STEPS_PER_S, loudness, set_loudness
from synth.types import Pcm

from .signals import after, ebur128, silence, sine, speech_like

CEILING = -1.0


def _peaky(seconds: float = 3.0, rate: int = 24000) -> Pcm:
    """Speech with a hard, short knock every half second."""
    pcm = speech_like(seconds, rate, level=0.05)
    samples = pcm.samples.copy()
    samples[:: rate // 2] = 0.95
    return Pcm(samples, rate)


@pytest.mark.parametrize("target", [-30.0, -23.0, -19.0, -16.0])
@pytest.mark.parametrize("rate", [8000, 16000, 22050, 24000, 44100, 48000])
def test_speech_comes_to_the_target(rate: int, target: float) -> None:
    measured, peak = ebur128(set_loudness(speech_like(4.0, rate, level=0.02), target))
    assert measured == pytest.approx(target, abs=0.5)
    assert peak <= CEILING


@pytest.mark.parametrize("level", [0.01, 0.02, 0.1, 0.5])
def test_what_came_in_loud_or_quiet_goes_out_alike(level: float) -> None:
    measured, peak = ebur128(set_loudness(speech_like(4.0, level=level), -18.0))
    assert measured == pytest.approx(-18.0, abs=0.5)
    assert peak <= CEILING


def test_our_meter_agrees_with_the_other_one() -> None:
    pcm = after(speech_like(3.0, level=0.2), silence(1.0), speech_like(3.0, level=0.02))
    assert loudness(pcm) == pytest.approx(ebur128(pcm)[0], abs=0.15)


def test_sound_longer_than_a_chunk_is_measured_as_a_whole() -> None:
    seconds = CHUNK_STEPS / STEPS_PER_S
    pcm = after(speech_like(seconds * 0.9, level=0.02), silence(10.0), speech_like(20.0, level=0.3))
    assert pcm.duration > seconds * 1.2
    assert loudness(pcm) == pytest.approx(ebur128(pcm)[0], abs=0.15)
    assert loudness(pcm) == pytest.approx(pyloudnorm.Meter(24000).integrated_loudness(pcm.samples), abs=0.01)


def test_a_gating_block_that_is_not_whole_does_not_count() -> None:
    tone = sine(1.0, level=0.1)
    assert loudness(after(tone, silence(0.09))) == loudness(tone) == pytest.approx(ebur128(tone)[0], abs=0.1)


@pytest.mark.parametrize("rate", [11025, 22050, 44100])
def test_gating_steps_that_are_no_whole_number_of_samples_do_not_drift(rate: int) -> None:
    pcm = after(*(speech_like(0.77, rate, level=level) for level in (0.3, 0.02, 0.1) * 6))
    assert loudness(pcm) == pytest.approx(ebur128(pcm)[0], abs=0.15)


@pytest.mark.parametrize("target", [-14.0, -9.0, -3.0])
def test_the_ceiling_holds_where_the_target_is_out_of_reach(target: float) -> None:
    measured, peak = ebur128(set_loudness(_peaky(), target))
    assert peak <= CEILING
    assert measured <= target + 0.5


def test_knocks_are_turned_down_so_that_speech_still_reaches_the_target() -> None:
    pcm = _peaky()
    measured, peak = ebur128(set_loudness(pcm, -18.0))
    assert measured == pytest.approx(-18.0, abs=0.5)
    assert peak <= CEILING
    assert 20 * math.log10(true_peak(pcm)) - ebur128(pcm)[0] > 17, "else nothing had to be limited"


@pytest.mark.parametrize("seconds", [0.001, 0.02, 0.1, 0.399, 0.4, 0.41])
def test_a_very_short_clip_gets_a_sane_level(seconds: float) -> None:
    result = set_loudness(sine(seconds, level=0.01), -20.0)
    assert len(result.samples) == round(seconds * 24000)
    assert true_peak(result) <= 10 ** (CEILING / 20)
    if seconds >= 0.02:  # a 220 Hz tone of -20 LUFS has a peak near -17 dBFS
        assert 0.07 < true_peak(result) < 0.25


def test_silence_stays_silence() -> None:
    assert loudness(silence(1.0)) == -math.inf
    assert not set_loudness(silence(1.0), -16.0).samples.any()
    assert len(set_loudness(silence(0.0), -16.0).samples) == 0


def test_noise_far_below_speech_is_raised_by_30_db_at_most() -> None:
    pcm = speech_like(2.0, level=0.001)
    raised = loudness(set_loudness(pcm, -16.0)) - loudness(pcm)
    assert raised == pytest.approx(30.0, abs=0.1)


def test_a_peak_between_the_samples_counts() -> None:
    swell = np.hanning(24000)
    pcm = Pcm((np.tile([0.7, 0.7, -0.7, -0.7], 6000) * swell).astype(np.float32), 24000)
    assert np.abs(pcm.samples).max() == pytest.approx(0.7, rel=0.01)
    assert true_peak(pcm) == pytest.approx(0.7 * math.sqrt(2), rel=0.05)
    assert ebur128(limit_peaks(pcm, ceiling_dbfs=-3.0))[1] <= -3.0


def test_sound_below_the_ceiling_is_not_touched() -> None:
    pcm = speech_like(1.0)
    assert limit_peaks(pcm) is pcm


@settings(max_examples=60, deadline=None)
@given(
    length=st.integers(1, 40_000),
    rate=st.sampled_from([8000, 22050, 24000, 48000]),
    level=st.floats(0.001, 0.5),
    knocks=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.floats(-1.5, 1.5)), max_size=8),
    target=st.floats(-30.0, -3.0),
)
def test_no_true_peak_is_ever_left_above_the_ceiling(
    length: int, rate: int, level: float, knocks: list[tuple[float, float]], target: float
) -> None:
    samples = speech_like(length / rate + 0.1, rate, level=level).samples[:length].copy()
    for place, height in knocks:
        samples[int(place * length)] += np.float32(height)
    result = set_loudness(Pcm(samples, rate), target)
    assert len(result.samples) == length
    assert true_peak(result) <= 10 ** ((CEILING - METER_MARGIN_DB) / 20) * (1 + 1e-5)


def test_limiting_is_local() -> None:
    pcm = after(sine(1.0, level=0.3), sine(0.05, level=1.4), sine(1.0, level=0.3))
    limited = limit_peaks(pcm)
    assert limited.samples[:23000] == pytest.approx(pcm.samples[:23000], rel=0.03)
    assert np.abs(limited.samples).max() < 0.9


def test_limiting_across_blocks_leaves_no_seam() -> None:
    pcm = sine(24.0, level=1.3)
    limited = limit_peaks(pcm)
    assert np.abs(np.diff(limited.samples)).max() <= np.abs(np.diff(pcm.samples)).max()
    assert ebur128(limited)[1] <= CEILING
