"""Whether a decoded recording is good enough to speak like: level, clipping, noise, length. Used by reading.py.

Engines copy what they hear: hiss, hum and distortion of the reference come back in every sentence.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from synth.audio.references import ReferenceLimits, ReferenceRefused
from synth.types import Pcm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FRAME_S = 0.020
SILENT_PEAK = 10 ** (-50 / 20)
# A frame sounds when it is within 40 dB of the loudest one. Below -80 dBFS there is no recording, only zeros.
SOUNDING_POWER = 10 ** (-40 / 10)
NOTHING_POWER = 10 ** (-80 / 10)
NOISE_PERCENTILE, SPEECH_PERCENTILE = 10, 95
# More than this cannot be told in 16 bits.
MOST_SNR_DB = 90.0
FLAT_LEVEL = 0.9
FLAT_STEP = 1 / 65536
MAX_FLAT_SHARE = 0.001
MAX_OVER_SHARE = 0.001


def check_channels(channels: NDArray[np.float32]) -> None:
    """What mixing the channels down would hide."""
    import numpy as np

    if not np.isfinite(channels).all():
        raise ReferenceRefused("not_finite")
    share = clipped_share(channels)
    if share > 0:
        raise ReferenceRefused("clipped", {"percent": round(100 * share, 2)})


def check_sound(pcm: Pcm, *, limits: ReferenceLimits) -> float:
    """Raises ReferenceRefused for what is too short, silent or too noisy; gives the signal to noise ratio in dB."""
    if pcm.duration < limits.shortest:
        raise ReferenceRefused("too_short", {"seconds": round(pcm.duration, 2), "least": limits.shortest})
    powers = _frame_powers(pcm)
    sounding = _sounding(pcm, powers)
    seconds = float(sounding.sum()) * FRAME_S
    if seconds < limits.least_sound:
        raise ReferenceRefused("silent", {"seconds": round(seconds, 2), "least": limits.least_sound})
    ratio = _ratio_db(powers, sounding)
    if ratio < limits.least_snr_db:
        raise ReferenceRefused("too_noisy", {"snr_db": round(ratio, 1), "least": limits.least_snr_db})
    return ratio


def clipped_share(channels: NDArray[np.float32]) -> float:
    """The share of samples that are cut off, in the worst channel; 0 where it is too small to matter.

    Cut off are runs of four equal samples near full scale, and what a lossy codec, rounding such corners, puts
    beyond it. A stray peak is neither.
    """
    import numpy as np

    worst = 0.0
    for samples in channels.T:
        same = (np.abs(np.diff(samples)) < FLAT_STEP) & (np.abs(samples[1:]) >= FLAT_LEVEL)
        flat = np.count_nonzero(same[2:] & same[1:-1] & same[:-2]) / max(1, len(samples))
        over = np.count_nonzero(np.abs(samples) > 1.0) / max(1, len(samples))
        if flat > MAX_FLAT_SHARE or over > MAX_OVER_SHARE:
            worst = max(worst, flat, over)
    return worst


def signal_to_noise(pcm: Pcm) -> float:
    """An estimate in dB: the 95th percentile of the frames' power over the 10th.

    Speech pauses, and closes the mouth for stops, so one frame of 20 ms in ten holds hardly more than the room: the
    idea of NIST's STNR, which reads noise and speech from a histogram of frame powers. On clean speech with white or
    pink noise added at 0 to 30 dB it reads 3 to 8 dB more than that, since it compares with the loud parts; clean
    speech reads 28 and up, in a hard room 20. Zeros that an editor or a gate put in are left out, or they would pass
    for a silent room.
    """
    powers = _frame_powers(pcm)
    return _ratio_db(powers, _sounding(pcm, powers))


def _frame_powers(pcm: Pcm) -> NDArray[np.float64]:
    """Without each frame's mean: a microphone's constant offset is no sound."""
    import numpy as np

    length = max(1, round(FRAME_S * pcm.sample_rate))
    whole = len(pcm.samples) // length * length
    return np.asarray(np.var(pcm.samples[:whole].reshape(-1, length), axis=1, dtype=np.float64))


def _sounding(pcm: Pcm, powers: NDArray[np.float64]) -> NDArray[np.bool_]:
    import numpy as np

    if np.abs(pcm.samples).max(initial=0.0) < SILENT_PEAK:
        return np.zeros(len(powers), dtype=np.bool_)
    return np.asarray(powers > max(float(powers.max(initial=0.0)) * SOUNDING_POWER, NOTHING_POWER))


def _ratio_db(powers: NDArray[np.float64], sounding: NDArray[np.bool_]) -> float:
    import numpy as np

    heard = np.flatnonzero(sounding)
    if not len(heard):
        return 0.0
    inside = powers[heard[0] : heard[-1] + 1]
    # Sorted by hand: numpy's percentile imports more when first called, which the sandbox does not allow by then.
    ranked = np.sort(inside[inside > NOTHING_POWER])
    noise, speech = (float(ranked[len(ranked) * percent // 100]) for percent in (NOISE_PERCENTILE, SPEECH_PERCENTILE))
    return min(MOST_SNR_DB, 10 * math.log10(speech / noise))
