"""Samples to a stored clip: encoded, and named by the SHA-256 of its bytes. Called by the io worker."""

import hashlib

from synth.audio.formats import get_format
from synth.types import Clip, Pcm


def encode_clip(pcm: Pcm, *, format: str, sample_rate: int, bitrate: int | None) -> Clip:  # noqa: A002
    """Resamples where the rates differ.

    Resampling can lift a peak a little: resample first and set the loudness last, so that its ceiling holds.
    Raises LookupError for a format, sample rate or bitrate that does not exist, ValueError for no samples.
    """
    chosen = get_format(format)
    data = chosen.encode(pcm, sample_rate=sample_rate, bitrate=bitrate)
    return Clip(
        data=data,
        digest=hashlib.sha256(data).hexdigest(),
        format=chosen.name,
        media_type=chosen.media_type_for(sample_rate),
        duration=pcm.duration,
        sample_rate=sample_rate,
    )
