"""The estimate of signal to noise follows the noise that was added, and cannot be fooled by zeros around it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.audio.reference_checks import MOST_SNR_DB, clipped_share, signal_to_noise
from synth.types import Pcm

from .signals import after, silence, sine, speech_like
from .uploads import spoken


def _paused(seed: int = 7) -> Pcm:
    """Phrases with pauses of a silent room, as people speak."""
    phrases = [piece for number in range(4) for piece in (spoken(1.0, seed=seed + number), silence(0.4))]
    room = after(*phrases)
    hum = 1e-4 * np.random.default_rng(seed).standard_normal(len(room.samples))
    return Pcm((room.samples + hum).astype(np.float32), room.sample_rate)


def _noisy(pcm: Pcm, snr_db: float, *, seed: int) -> Pcm:
    level = float(np.sqrt(np.mean(np.square(pcm.samples, dtype=np.float64)))) * 10 ** (-snr_db / 20)
    noise = level * np.random.default_rng(seed).standard_normal(len(pcm.samples))
    return Pcm((pcm.samples + noise).astype(np.float32), pcm.sample_rate)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), snr_db=st.floats(0, 30))
def test_it_reads_what_was_added_and_a_little_more(seed: int, snr_db: float) -> None:
    assert snr_db - 1 < signal_to_noise(_noisy(_paused(seed), snr_db, seed=seed)) < snr_db + 10


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), snr_db=st.floats(0, 25), more=st.floats(3, 10))
def test_more_noise_never_reads_as_less(seed: int, snr_db: float, more: float) -> None:
    paused = _paused(seed)
    quiet, loud = (signal_to_noise(_noisy(paused, ratio, seed=seed)) for ratio in (snr_db + more, snr_db))
    assert quiet > loud


@settings(max_examples=30, deadline=None)
@given(gain=st.floats(0.1, 5.0), offset=st.floats(-0.1, 0.1))
def test_level_and_offset_do_not_matter(gain: float, offset: float) -> None:
    noisy = _noisy(_paused(), 15, seed=1)
    moved = Pcm((noisy.samples * gain + offset).astype(np.float32), noisy.sample_rate)
    assert signal_to_noise(moved) == pytest.approx(signal_to_noise(noisy), abs=0.1)


@pytest.mark.parametrize("rate", [8000, 16000, 24000, 44100, 48000])
def test_the_rate_does_not_matter(rate: int) -> None:
    assert signal_to_noise(speech_like(4, rate)) == pytest.approx(signal_to_noise(speech_like(4, 24000)), abs=1.5)


def test_zeros_around_and_inside_do_not_hide_noise() -> None:
    noisy = _noisy(spoken(3), 3, seed=5)
    padded = after(silence(2), noisy, silence(2), noisy, silence(2))
    assert signal_to_noise(padded) == pytest.approx(signal_to_noise(noisy), abs=1)


def test_noise_alone_and_a_tone_are_nothing_to_speak_like() -> None:
    noise = Pcm(np.random.default_rng(1).standard_normal(96000).astype(np.float32) * 0.1, 24000)
    assert signal_to_noise(noise) < 3
    assert signal_to_noise(sine(4)) < 3
    assert signal_to_noise(silence(4)) == 0


def test_it_is_bounded() -> None:
    samples = spoken(4).samples.copy()
    samples[40000:60000] = np.linspace(0, 2e-3, 20000) % 1e-3
    assert 0 < signal_to_noise(Pcm(samples, 24000)) <= MOST_SNR_DB


@pytest.mark.parametrize("gain", [1.5, 2.0, 4.0])
def test_cut_off_tops_are_found_and_loud_ones_are_not(gain: float) -> None:
    loud = spoken(4).samples / np.abs(spoken(4).samples).max()
    assert clipped_share(loud[:, None]) == 0
    cut = np.clip(loud * gain * 1.3, -1, 1).astype(np.float32)
    assert clipped_share(cut[:, None]) > 0
    assert clipped_share(sine(3, pitch=100, level=1.0).samples[:, None]) == 0
