"""Whether an engine's sound may be stored. Called by the engine worker on every segment before anything is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth.audio.durations import longest_plausible, shortest_plausible
from synth.errors import Retryable
from synth.types import Pcm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SILENT_PEAK = 10 ** (-50 / 20)
FRAME_S = 0.010
# A frame sounds when it is within 40 dB of the loudest one.
SOUNDING_RATIO = 10 ** (-40 / 20)
FLAT_LEVEL = 0.9
FLAT_STEP = 1 / 65536
MAX_FLAT_SHARE = 0.001
MAX_OVER_SHARE = 0.01


class BadAudio(Retryable):
    """The engine's sound is not fit to be stored; another run may be. `code` tells what is wrong."""

    code = "audio_bad"


def check(pcm: Pcm, *, text: str, speed: float = 1.0) -> None:
    """Raises BadAudio for a clip that is empty, not finite, silent, clipped, or implausibly short or long for `text`.

    Padding does not hide a cut: only the time that sounds counts against the shortest. All of it counts against
    the longest.
    """
    _check_samples(pcm)
    _check_duration(pcm, text=text, speed=speed)


def _check_samples(pcm: Pcm) -> None:
    import numpy as np

    if not len(pcm.samples):
        raise BadAudio("the engine returned no samples", code="audio_empty")
    if not np.isfinite(pcm.samples).all():
        raise BadAudio("the engine returned samples that are not numbers", code="audio_not_finite")
    if np.abs(pcm.samples).max() < SILENT_PEAK:
        raise BadAudio("nothing is louder than -50 dBFS", code="audio_silent")
    flat, over = _flat_share(pcm.samples), float(np.mean(np.abs(pcm.samples) > 1.0))
    if flat > MAX_FLAT_SHARE or over > MAX_OVER_SHARE:
        raise BadAudio(f"{flat:.2%} of the samples are flattened, {over:.2%} beyond full scale", code="audio_clipped")


def _check_duration(pcm: Pcm, *, text: str, speed: float) -> None:
    sounding, shortest = _sounding_seconds(pcm), shortest_plausible(text, speed)
    if sounding < shortest:
        raise BadAudio(f"{sounding:.2f} s of sound where {shortest:.2f} s is the least", code="audio_too_short")
    longest = longest_plausible(text, speed)
    if pcm.duration > longest:
        raise BadAudio(f"{pcm.duration:.2f} s where {longest:.2f} s is the most", code="audio_too_long")


def _flat_share(samples: NDArray[np.float32]) -> float:
    """The share of samples that end a run of four equal ones near full scale: a wave with its top cut off."""
    import numpy as np

    same = (np.abs(np.diff(samples)) < FLAT_STEP) & (np.abs(samples[1:]) >= FLAT_LEVEL)
    runs = same[2:] & same[1:-1] & same[:-2]
    return float(np.count_nonzero(runs)) / len(samples)


def _sounding_seconds(pcm: Pcm) -> float:
    import numpy as np

    length = max(1, round(FRAME_S * pcm.sample_rate))
    padded = np.pad(pcm.samples, (0, -len(pcm.samples) % length)).astype(np.float64)
    levels = np.sqrt(np.mean(np.square(padded.reshape(-1, length)), axis=1))
    return float(np.count_nonzero(levels > levels.max() * SOUNDING_RATIO)) * length / pcm.sample_rate
