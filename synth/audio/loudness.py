"""Loudness by ITU-R BS.1770-4 and a true-peak limiter. Called through pcm.py by the io worker, and by to_flac.

Both work in blocks, so that hours of speech cost little more memory than their samples.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from synth.types import Pcm

PEAK_CEILING_DBFS = -1.0
MAX_GAIN_DB = 30.0
# What the limiter takes away is given back up to this much; more would only flatten the speech.
MAX_MAKE_UP_DB = 3.0
TOLERANCE_LU = 0.2
# Meters differ in their interpolation filters: aim a little lower, so that another meter agrees. For white noise,
# whose top octave no two filters treat alike, they may still differ by 0.5 dB; speech has little there.
METER_MARGIN_DB = 0.3

GATING_BLOCK_S = 0.4
GATING_STEP_S = 0.1
CHUNK_STEPS = 600
ABSOLUTE_GATE_LUFS = -70.0
RELATIVE_GATE_LU = -10.0

OVERSAMPLING = 8
FILTER_REACH = 256
RAMP_S = 0.010
BLOCK = 1 << 18


def loudness(pcm: Pcm) -> float:
    """Integrated loudness in LUFS; minus infinity for silence.

    A clip shorter than one gating block (400 ms) counts as if it went on repeating.
    """
    blocks = _block_loudness(pcm)
    gated = blocks[blocks >= ABSOLUTE_GATE_LUFS]
    if not len(gated):
        return -math.inf
    return _mean(gated[gated > _mean(gated) + RELATIVE_GATE_LU])


def set_loudness(pcm: Pcm, target_lufs: float) -> Pcm:
    """The same sound at `target_lufs` (within 0.5 LU for speech), its true peak never above -1 dBFS.

    Where the ceiling stands in the way (very peaky sound, or a target above about -12) the result stays quieter
    than asked. Sound more than 30 dB too quiet is raised by 30 dB only, so that noise is not made speech;
    silence stays as it is.
    """
    measured = loudness(pcm)
    if not math.isfinite(measured):
        return limit_peaks(pcm)
    gain = min(target_lufs - measured, MAX_GAIN_DB)
    highest = min(gain + MAX_MAKE_UP_DB, MAX_GAIN_DB)
    amplified = _amplified(pcm, gain)
    result = limit_peaks(amplified)
    if result is amplified:  # nothing was limited, so a gain is all that it took
        return result
    for _ in range(2):
        missing = target_lufs - loudness(result)
        if abs(missing) < TOLERANCE_LU or gain >= highest:
            break
        gain = min(gain + missing, highest)
        result = limit_peaks(_amplified(pcm, gain))
    return result


def limit_peaks(pcm: Pcm, *, ceiling_dbfs: float = PEAK_CEILING_DBFS) -> Pcm:
    """Turn the sound down for some 10 ms around each true peak above the ceiling; without such, it is untouched."""
    ceiling = _ratio(ceiling_dbfs - METER_MARGIN_DB)
    if true_peak(pcm) <= ceiling:
        return pcm
    ramp = max(1, round(RAMP_S * pcm.sample_rate)) | 1
    limited = pcm.samples.copy()
    for block, piece, inner in _windows(pcm.samples, margin=2 * ramp + FILTER_REACH):
        peaks = np.maximum(np.abs(_wave(piece)).reshape(-1, OVERSAMPLING).max(axis=1), np.abs(piece))
        if peaks.max() > ceiling:
            limited[block] *= _smooth(ceiling / np.maximum(peaks, ceiling), ramp)[inner]
    # A changing gain bends the wave between the samples, by a hair: one last factor makes the ceiling exact.
    limited /= np.float32(max(true_peak(Pcm(limited, pcm.sample_rate)) / ceiling, 1.0))
    return Pcm(limited, pcm.sample_rate)


def true_peak(pcm: Pcm) -> float:
    """The highest absolute value of the wave, also between the samples."""
    highest = float(np.abs(pcm.samples).max(initial=0.0))
    for _, piece, inner in _windows(pcm.samples, margin=FILTER_REACH):
        wave = _wave(piece)[inner.start * OVERSAMPLING : inner.stop * OVERSAMPLING]
        highest = max(highest, float(wave.max()), -float(wave.min()))
    return highest


def _block_loudness(pcm: Pcm) -> NDArray[np.float64]:
    """LUFS of every gating block of 400 ms, one each 100 ms."""
    import pyloudnorm

    samples = pcm.samples
    if not np.any(samples):
        return np.zeros(0)
    needed = math.ceil(GATING_BLOCK_S * pcm.sample_rate) + 1
    if len(samples) < needed:
        samples = np.tile(samples, math.ceil(needed / len(samples)))
    meter = pyloudnorm.Meter(pcm.sample_rate, block_size=GATING_BLOCK_S, overlap=1 - GATING_STEP_S / GATING_BLOCK_S)
    chunk = round(CHUNK_STEPS * GATING_STEP_S * pcm.sample_rate)
    shared = round((GATING_BLOCK_S - GATING_STEP_S) * pcm.sample_rate)
    found: list[float] = []
    with warnings.catch_warnings():
        # It warns when every block of a chunk lies below the gate: a pause.
        warnings.simplefilter("ignore", RuntimeWarning)
        for start in range(0, max(1, len(samples) - needed), chunk):
            meter.integrated_loudness(samples[start : start + chunk + shared])
            found += meter.blockwise_loudness
    return np.array(found)


def _mean(levels: NDArray[np.float64]) -> float:
    """The level of the mean energy."""
    return float(10 * np.log10(np.mean(10 ** (levels / 10))))


def _windows(samples: NDArray[np.float32], *, margin: int) -> Iterator[tuple[slice, NDArray[np.float32], slice]]:
    """Blocks that cover all samples: where the block lies, it with its neighbourhood, and where in that it lies."""
    for start in range(0, len(samples), BLOCK):
        end = min(start + BLOCK, len(samples))
        first = max(0, start - margin)
        yield slice(start, end), samples[first : end + margin], slice(start - first, end - first)


def _wave(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Eight values from each sample to the next: near enough to the wave that a player makes of them."""
    import soxr

    fine: NDArray[np.float32] = soxr.resample(samples, 1, OVERSAMPLING, quality="HQ")
    return fine


def _smooth(gain: NDArray[np.float32], ramp: int) -> NDArray[np.float32]:
    """A gain nowhere above the one given: the minimum over a window, averaged over no more than that window."""
    from scipy.ndimage import minimum_filter1d, uniform_filter1d

    held = minimum_filter1d(gain, size=2 * ramp - 1, mode="nearest")
    once = uniform_filter1d(held, size=ramp, mode="nearest")
    smooth: NDArray[np.float32] = uniform_filter1d(once, size=ramp, mode="nearest")
    return smooth


def _amplified(pcm: Pcm, gain_db: float) -> Pcm:
    return Pcm(pcm.samples * np.float32(_ratio(gain_db)), pcm.sample_rate)


def _ratio(decibels: float) -> float:
    return float(10.0 ** (decibels / 20))
