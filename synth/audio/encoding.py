"""Samples to a stored clip: encoded, and named by the SHA-256 of its bytes. Called by the io worker."""

import hashlib

import numpy as np

from synth.audio.formats import format_names, get_format
from synth.audio.pcm import set_loudness
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


def warm_up() -> None:
    """Load every library that a rendition needs, so that the first caller does not wait a second for it."""
    rate = 22050
    hum = Pcm(np.sin(np.arange(rate, dtype=np.float32) / 8), rate)
    louder = set_loudness(hum, -3.0)
    for name in format_names():
        sample_rate = get_format(name).default_sample_rate
        bitrate = get_format(name).default_bitrate_for(sample_rate)
        encode_clip(louder, format=name, sample_rate=sample_rate, bitrate=bitrate)
