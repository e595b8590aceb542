"""Of torchaudio what the adapter calls."""

from types import SimpleNamespace

import soxr
from torch import Tensor


def _resample(waveform: Tensor, orig_freq: int, new_freq: int) -> Tensor:
    return Tensor(soxr.resample(waveform.array[0], orig_freq, new_freq)[None, :])


functional = SimpleNamespace(resample=_resample)
