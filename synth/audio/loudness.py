"""Loudness by ITU-R BS.1770-4. Called through pcm.py by the io worker."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from synth.audio.limiter import Limiter, limit_peaks
from synth.types import Pcm

MAX_GAIN_DB = 30.0
# What the limiter takes away is given back up to this much; more would only flatten the speech.
MAX_MAKE_UP_DB = 3.0
TOLERANCE_LU = 0.2

STEPS_PER_S = 10
STEPS_PER_GATING_BLOCK = 4
CHUNK_STEPS = 50
# So that a sine of 997 Hz at full scale has -3.01 LUFS.
LUFS_OFFSET = -0.691
ABSOLUTE_GATE_LUFS = -70.0
RELATIVE_GATE_LU = -10.0


def loudness(pcm: Pcm) -> float:
    """Integrated loudness in LUFS; minus infinity for silence.

    A clip shorter than one gating block (400 ms) counts as if it went on repeating.
    """
    energies = _block_energies(pcm)
    gated = energies[energies >= _energy(ABSOLUTE_GATE_LUFS - LUFS_OFFSET)]
    if not len(gated):
        return -math.inf
    loud = gated[gated > gated.mean() * _energy(RELATIVE_GATE_LU)]
    return LUFS_OFFSET + 10 * math.log10(loud.mean())


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
    limiter = Limiter(pcm)
    result = limiter.amplified(gain)
    if not limiter.limits(gain):
        return result
    for _ in range(2):
        missing = target_lufs - loudness(result)
        if abs(missing) < TOLERANCE_LU or gain >= highest:
            break
        gain = min(gain + missing, highest)
        result = limiter.amplified(gain)
    return limiter.exact(result, gain)


def _block_energies(pcm: Pcm) -> NDArray[np.float64]:
    """The mean weighted energy of every whole gating block of 400 ms, one each 100 ms."""
    samples, rate = pcm.samples, pcm.sample_rate
    if not len(samples):
        return np.zeros(0)
    needed = math.ceil(STEPS_PER_GATING_BLOCK * rate / STEPS_PER_S)
    if len(samples) < needed:
        samples = np.tile(samples, math.ceil(needed / len(samples)))
    sums = np.convolve(_step_energies(samples, rate), np.ones(STEPS_PER_GATING_BLOCK), mode="valid")
    return sums * STEPS_PER_S / STEPS_PER_GATING_BLOCK / rate


def _step_energies(samples: NDArray[np.float32], rate: int) -> NDArray[np.float64]:
    """The weighted energy of every whole step of 100 ms, worked out in chunks, so that hours need little memory."""
    from scipy.signal import sosfilt

    edges = np.arange(len(samples) * STEPS_PER_S // rate + 1) * rate // STEPS_PER_S
    sections = _weighting(rate)
    state = np.zeros((len(sections), 2))
    found = []
    for first in range(0, len(edges) - 1, CHUNK_STEPS):
        within = edges[first : first + CHUNK_STEPS + 1]
        weighted, state = sosfilt(sections, samples[within[0] : within[-1]], zi=state)
        found.append(np.add.reduceat(np.square(weighted, out=weighted), within[:-1] - within[0]))
    return np.concatenate(found)


@cache
def _weighting(rate: int) -> NDArray[np.float64]:
    """K-weighting, the filter of the standard, as second-order sections: a high shelf and a high-pass."""
    from pyloudnorm import IIRfilter

    shelf = IIRfilter(4.0, 1 / math.sqrt(2), 1500.0, rate, "high_shelf")
    high_pass = IIRfilter(0.0, 0.5, 38.0, rate, "high_pass")
    return np.array([[*section.b, *section.a] for section in (shelf, high_pass)])


def _energy(decibels: float) -> float:
    return float(10.0 ** (decibels / 10))
