"""Writes audio files through libsndfile, imported on first use. Used by the formats and by pcm.to_flac."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# libsndfile's codecs keep a whole write on the stack or in one buffer: hand them bounded pieces.
BLOCK = 1 << 16


def write_file(
    samples: NDArray[np.float32] | NDArray[np.int16],
    *,
    sample_rate: int,
    container: str,
    subtype: str,
    compression_level: float | None = None,
    bitrate_mode: str | None = None,
) -> bytes:
    """One mono file in memory. Container and subtype are libsndfile's names."""
    import soundfile

    target = io.BytesIO()
    with soundfile.SoundFile(
        target,
        mode="w",
        samplerate=sample_rate,
        channels=1,
        format=container,
        subtype=subtype,
        compression_level=compression_level,
        bitrate_mode=bitrate_mode,
    ) as file:
        for start in range(0, len(samples), BLOCK):
            file.write(samples[start : start + BLOCK])
    return target.getvalue()
