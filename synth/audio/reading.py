"""From an upload's bytes to a reference, or to why not. Pure; run by `sandbox`, which bounds what it may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth.audio import decoding, m4a
from synth.audio.fingerprint import fingerprint
from synth.audio.reference_checks import check_channels, check_sound
from synth.audio.references import DEFAULT_LIMITS, ReferenceAudio, ReferenceLimits, ReferenceRefused
from synth.audio.samples import from_int16, resample, to_int16
from synth.audio.sniffing import sniff, without_tags
from synth.types import Pcm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def container_of(data: bytes, *, limits: ReferenceLimits = DEFAULT_LIMITS) -> str:
    """wav, mp3, flac, ogg or m4a, without decoding anything. Raises ReferenceRefused for all else."""
    if len(data) > limits.max_bytes:
        raise ReferenceRefused("too_large", {"most": limits.max_bytes})
    container = sniff(without_tags(data))
    if container is None:
        raise ReferenceRefused("not_audio")
    if container not in decoding.CONTAINERS and not (container == "m4a" and m4a.is_readable()):
        raise ReferenceRefused("unsupported_format", {"format": container})
    return container


def read_reference(data: bytes, *, limits: ReferenceLimits = DEFAULT_LIMITS) -> ReferenceAudio:
    """Decodes in this very process: for hostile bytes use `apart.read_reference_apart`."""
    container = container_of(data, limits=limits)
    sound = decoding.decode(without_tags(data), container, limits=limits)
    check_channels(sound.channels)
    pcm = _as_kept(_mixed_down(sound.channels), sound.rate, kept_rate=limits.kept_rate)
    ratio = check_sound(pcm, limits=limits)
    return ReferenceAudio(pcm=pcm, fingerprint=fingerprint(pcm), format=container, snr_db=ratio)


def _mixed_down(channels: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean, worked out so that equal channels give exactly themselves."""
    import numpy as np

    if channels.shape[1] == 1:
        return channels[:, 0]
    return np.asarray(np.mean(channels, axis=1, dtype=np.float64), dtype=np.float32)


def _as_kept(samples: NDArray[np.float32], rate: int, *, kept_rate: int) -> Pcm:
    import numpy as np

    within = np.clip(samples, -1.0, 1.0)  # a file of floats may hold a stray value of any size
    pcm = resample(Pcm(within, rate), min(rate, kept_rate))
    return Pcm(from_int16(to_int16(pcm.samples)), pcm.sample_rate)
