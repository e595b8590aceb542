"""What both default engines do to the samples a model returns: trim, join, limit. numpy only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLE_RATE = 24_000
_CEILING = 0.98
_SILENCE = 0.004  # of full scale: below the models' softest consonants, above their noise floor
_FRAME = SAMPLE_RATE // 100
_LEAD, _TAIL = 3, 6  # frames of silence kept at each end


def trimmed(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Without the model's own silence at both ends, of which a few hundredths of a second stay."""
    import numpy as np

    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    loud = np.flatnonzero(np.sqrt(np.mean(np.square(frames), axis=1)) > _SILENCE)
    if not len(loud):
        return samples
    return samples[max(loud[0] - _LEAD, 0) * _FRAME : (loud[-1] + 1 + _TAIL) * _FRAME]


def joined(pieces: list[NDArray[np.float32]], *, pause: float) -> NDArray[np.float32]:
    """The pieces in order with `pause` seconds of silence between them."""
    import numpy as np

    silence = np.zeros(int(pause * SAMPLE_RATE), np.float32)
    spaced = [part for piece in pieces for part in (silence, piece)][1:]
    return np.concatenate(spaced)


def limited(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turned down as a whole where a peak would pass full scale: nothing is clipped, nothing is bent."""
    import numpy as np

    peak = float(np.max(np.abs(samples), initial=0.0))
    return samples * np.float32(_CEILING / peak) if peak > _CEILING else samples
