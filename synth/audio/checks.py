"""Whether an engine's sound may be stored. Called by the engine worker on every segment before anything is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth.audio.durations import longest_plausible, longest_silence, shortest_plausible
from synth.audio.pace import Paces, plausible
from synth.errors import Retryable
from synth.types import Pcm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SILENT_PEAK = 10 ** (-50 / 20)
# Of what sounds, as a root mean square: a click in the hiss is no speech, and neither is a wall of noise.
QUIETEST = 10 ** (-48 / 20)
LOUDEST = 10 ** (-2 / 20)
FRAME_S = 0.010
# A frame sounds when it is within 40 dB of the loudest one.
SOUNDING_RATIO = 10 ** (-40 / 20)
FLAT_LEVEL = 0.9
FLAT_STEP = 1 / 65536
MAX_FLAT_SHARE = 0.001
MAX_OVER_SHARE = 0.01


class BadAudio(Retryable):
    """The engine's sound is not fit to be stored; another run's may be. `finding` tells what is wrong with it."""

    code = "implausible_audio"

    def __init__(self, detail: str, *, finding: str) -> None:
        self.finding = finding
        super().__init__(f"{finding}: {detail}")


def check(
    pcm: Pcm, *, text: str, speed: float = 1.0, duration: float | None = None, paces: Paces | None = None
) -> float:
    """Returns the seconds that sound. `duration` is what the caller asked for; `paces` is how the engine speaks.

    Raises BadAudio for a clip that is empty, not finite, silent, clipped, too quiet or too loud, with a long silence
    inside, or implausibly short or long for `text`. Padding does not hide a cut: only the time that sounds counts
    against the shortest. All of it counts against the longest.
    """
    _check_samples(pcm)
    levels = _frame_levels(pcm)
    sounding = levels > levels.max() * SOUNDING_RATIO
    _check_level(levels[sounding])
    seconds = float(sounding.sum()) * FRAME_S
    _check_duration(pcm, seconds, text=text, speed=speed, duration=duration)
    if duration is None:
        _check_silence(sounding, text=text, speed=speed)
        _check_pace(seconds, text=text, speed=speed, paces=paces or Paces())
    return seconds


def longest(text: str, *, speed: float = 1.0, duration: float | None = None) -> float:
    """Seconds beyond which a sound is refused, whatever it is."""
    return max(longest_plausible(text, speed), 1.5 * (duration or 0.0))


def _check_samples(pcm: Pcm) -> None:
    import numpy as np

    if not len(pcm.samples):
        raise BadAudio("the engine returned no samples", finding="audio_empty")
    if not np.isfinite(pcm.samples).all():
        raise BadAudio("the engine returned samples that are not numbers", finding="audio_not_finite")
    if np.abs(pcm.samples).max() < SILENT_PEAK:
        raise BadAudio("nothing is louder than -50 dBFS", finding="audio_silent")
    flat, over = _flat_share(pcm.samples), float(np.mean(np.abs(pcm.samples) > 1.0))
    if flat > MAX_FLAT_SHARE or over > MAX_OVER_SHARE:
        told = f"{flat:.2%} of the samples are flattened, {over:.2%} beyond full scale"
        raise BadAudio(told, finding="audio_clipped")


def _check_level(sounding: NDArray[np.float64]) -> None:
    import numpy as np

    level = float(np.sqrt(np.mean(np.square(sounding))))
    told = f"what sounds has {20 * np.log10(level):.1f} dBFS"
    if level < QUIETEST:
        raise BadAudio(told, finding="audio_too_quiet")
    if level > LOUDEST:
        raise BadAudio(told, finding="audio_too_loud")


def _check_duration(pcm: Pcm, sounding: float, *, text: str, speed: float, duration: float | None) -> None:
    shortest = min(shortest_plausible(text, speed), 0.5 * (duration or float("inf")))
    if sounding < shortest:
        told = f"{sounding:.2f} s of sound where {shortest:.2f} s is the least"
        raise BadAudio(told, finding="audio_too_short")
    most = longest(text, speed=speed, duration=duration)
    if pcm.duration > most:
        raise BadAudio(f"{pcm.duration:.2f} s where {most:.2f} s is the most", finding="audio_too_long")


def _check_silence(sounding: NDArray[np.bool_], *, text: str, speed: float) -> None:
    import numpy as np

    gap = float(np.diff(np.flatnonzero(sounding)).max(initial=1) - 1) * FRAME_S
    most = longest_silence(text, speed)
    if gap > most:
        raise BadAudio(f"{gap:.2f} s of silence inside where {most:.2f} s is the most", finding="audio_gap")


def _check_pace(sounding: float, *, text: str, speed: float, paces: Paces) -> None:
    bounds = plausible(text, paces, speed=speed)
    if bounds and not bounds[0] <= sounding <= bounds[1]:
        told = f"{sounding:.2f} s of sound where this engine takes {bounds[0]:.2f} to {bounds[1]:.2f} s"
        raise BadAudio(told, finding="audio_pace")


def _flat_share(samples: NDArray[np.float32]) -> float:
    """The share of samples that end a run of four equal ones near full scale: a wave with its top cut off."""
    import numpy as np

    same = (np.abs(np.diff(samples)) < FLAT_STEP) & (np.abs(samples[1:]) >= FLAT_LEVEL)
    runs = same[2:] & same[1:-1] & same[:-2]
    return float(np.count_nonzero(runs)) / len(samples)


def _frame_levels(pcm: Pcm) -> NDArray[np.float64]:
    """The root mean square of each 10 ms."""
    import numpy as np

    length = max(1, round(FRAME_S * pcm.sample_rate))
    padded = np.pad(pcm.samples, (0, -len(pcm.samples) % length)).astype(np.float64)
    levels: NDArray[np.float64] = np.sqrt(np.mean(np.square(padded.reshape(-1, length)), axis=1))
    return levels
