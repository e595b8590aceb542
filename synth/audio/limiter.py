"""A true-peak limiter. Used by loudness.py, and through pcm.py where samples would leave full scale.

It works in blocks, so that hours of speech cost little more memory than their samples.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from synth.types import Pcm

PEAK_CEILING_DBFS = -1.0
# Meters differ in their interpolation filters: aim a little lower, so that another meter agrees. For white noise,
# whose top octave no two filters treat alike, they may still differ by 0.5 dB; speech has little there.
METER_MARGIN_DB = 0.3

OVERSAMPLING = 8
FILTER_REACH = 256
RAMP_S = 0.010
BLOCK = 1 << 16
LIMITED_BLOCK = 1 << 12  # most hold no peak that is too high


class Limiter:
    """Amplifies one sound by any gain, and holds its true peak below a ceiling. The wave is looked at once."""

    def __init__(self, pcm: Pcm, *, ceiling_dbfs: float = PEAK_CEILING_DBFS) -> None:
        self._pcm = pcm
        self._peaks = _peaks(pcm.samples)
        self._highest = float(self._peaks.max(initial=0.0))
        self._ceiling = _ratio(ceiling_dbfs - METER_MARGIN_DB)

    def limits(self, gain_db: float) -> bool:
        return self._highest * _ratio(gain_db) > self._ceiling

    def amplified(self, gain_db: float) -> Pcm:
        """Turned down for some 10 ms around each peak above the ceiling, which `exact` alone makes certain."""
        ramp = max(1, round(RAMP_S * self._pcm.sample_rate)) | 1
        allowed = self._allowed(gain_db)
        samples = self._pcm.samples * np.float32(_ratio(gain_db))
        for block, around, inner in _windows(len(samples), block=LIMITED_BLOCK, margin=2 * ramp):
            peaks = self._peaks[around]
            if peaks.max() > allowed:
                samples[block] *= _smooth(allowed / np.maximum(peaks, allowed), ramp)[inner]
        return Pcm(samples, self._pcm.sample_rate)

    def exact(self, amplified: Pcm, gain_db: float) -> Pcm:
        """The result of `amplified` with one last factor: its changing gain bends the wave by a hair."""
        ramp = round(RAMP_S * self._pcm.sample_rate) + 1
        limited = _widened(self._peaks > self._allowed(gain_db), 2 * ramp + FILTER_REACH)
        if not limited.any():
            return amplified
        # Elsewhere the wave is the one looked at before. The pieces lie end to end with all that the filter sees.
        seen = _widened(limited, FILTER_REACH)
        highest = float(_peaks(amplified.samples[seen])[limited[seen]].max())
        return Pcm(amplified.samples / np.float32(max(highest / self._ceiling, 1.0)), amplified.sample_rate)

    def _allowed(self, gain_db: float) -> np.float32:
        return np.float32(self._ceiling / _ratio(gain_db))


def limit_peaks(pcm: Pcm, *, ceiling_dbfs: float = PEAK_CEILING_DBFS) -> Pcm:
    """Turn the sound down for some 10 ms around each true peak above the ceiling; without such, it is untouched."""
    limiter = Limiter(pcm, ceiling_dbfs=ceiling_dbfs)
    return limiter.exact(limiter.amplified(0.0), 0.0) if limiter.limits(0.0) else pcm


def true_peak(pcm: Pcm) -> float:
    """The highest absolute value of the wave, also between the samples."""
    return float(_peaks(pcm.samples).max(initial=0.0))


def _peaks(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each sample, the highest absolute value of the wave from it to the next."""
    peaks = np.abs(samples)
    for block, around, inner in _windows(len(samples), block=BLOCK, margin=FILTER_REACH):
        wave = _wave(samples[around])
        np.abs(wave, out=wave)
        while len(wave) > around.stop - around.start:  # by halves: numpy is slow at maxima over short rows
            wave = np.maximum(wave[::2], wave[1::2])
        np.maximum(peaks[block], wave[inner], out=peaks[block])
    return peaks


def _wave(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Eight values from each sample to the next: near enough to the wave that a player makes of them."""
    import soxr

    fine: NDArray[np.float32] = soxr.resample(samples, 1, OVERSAMPLING, quality="HQ")
    return fine


def _windows(length: int, *, block: int, margin: int) -> Iterator[tuple[slice, slice, slice]]:
    """Blocks that cover all samples: where the block lies, it with its neighbourhood, and where in that it lies."""
    for start in range(0, length, block):
        end = min(start + block, length)
        first, last = max(0, start - margin), min(end + margin, length)
        yield slice(start, end), slice(first, last), slice(start - first, end - first)


def _smooth(gain: NDArray[np.floating], ramp: int) -> NDArray[np.float32]:
    """A gain nowhere above the one given: the minimum over a window, averaged over no more than that window."""
    from scipy.ndimage import minimum_filter1d, uniform_filter1d

    held = minimum_filter1d(gain, size=2 * ramp - 1, mode="nearest")
    once = uniform_filter1d(held, size=ramp, mode="nearest")
    smooth: NDArray[np.float32] = uniform_filter1d(once, size=ramp, mode="nearest")
    return smooth


def _widened(chosen: NDArray[np.bool], reach: int) -> NDArray[np.bool]:
    from scipy.ndimage import maximum_filter1d

    wider: NDArray[np.bool] = maximum_filter1d(chosen, size=2 * reach + 1, mode="nearest")
    return wider


def _ratio(decibels: float) -> float:
    return float(10.0 ** (decibels / 20))
