"""Speech made longer or shorter afterwards, its pitch kept: for engines that keep no time. Called by the io worker."""

from __future__ import annotations

import numpy as np

from synth.errors import Permanent
from synth.types import Pcm

# Beyond these nobody would want to listen.
SHORTEST, LONGEST = 0.5, 2.0


def stretch(pcm: Pcm, seconds: float) -> Pcm:
    """The same sound in exactly `seconds`. Raises Permanent where that is less than half or more than twice its own."""
    import python_stretch

    factor = seconds / pcm.duration
    if not SHORTEST <= factor <= LONGEST:
        told = f"{pcm.duration:.2f} s of speech can be stretched to {pcm.duration / 2:.2f} to {pcm.duration * 2:.2f} s"
        raise Permanent(told, code="duration_out_of_reach")
    wanted = round(seconds * pcm.sample_rate)
    if wanted == len(pcm.samples):
        return pcm
    stretcher = python_stretch.Signalsmith.Stretch()
    stretcher.preset(1, pcm.sample_rate)
    stretcher.timeFactor = 1 / factor  # of speed
    made = np.asarray(stretcher.process(pcm.samples[np.newaxis, :]), dtype=np.float32)[0]
    return Pcm(np.pad(made[:wanted], (0, max(0, wanted - len(made)))), pcm.sample_rate)
