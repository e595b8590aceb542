"""Sample values and rates: float to 16 bits and back, and resampling. Used by pcm.py and the formats.

Nothing heavy is imported until a function runs, so that the API can import the formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth.types import Pcm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FULL_SCALE = 32768


def to_int16(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    """Round to the nearest of 65,536 steps, without dither, so that equal samples give equal bytes.

    Values beyond full scale stop at it: limit them first (`loudness.limit_peaks`).
    """
    import numpy as np

    scaled = samples * np.float32(FULL_SCALE)  # a power of two: nothing is lost in single precision
    np.rint(scaled, out=scaled)
    return np.clip(scaled, -FULL_SCALE, FULL_SCALE - 1, out=scaled).astype(np.int16)


def from_int16(values: NDArray[np.int16]) -> NDArray[np.float32]:
    """Exact: every 16-bit value has a float32 of its own, and `to_int16` gives it back."""
    import numpy as np

    return values.astype(np.float32) / np.float32(FULL_SCALE)


def resample(pcm: Pcm, rate: int) -> Pcm:
    """The same sound at `rate` Hz; the duration is kept to within one sample of the new rate."""
    if rate == pcm.sample_rate or not len(pcm.samples):
        return Pcm(pcm.samples, rate)
    import soxr

    return Pcm(soxr.resample(pcm.samples, pcm.sample_rate, rate, quality="HQ"), rate)
