"""What an output format is. The API reads a FORMAT to validate requests; the io worker encodes with it.

Neither numpy nor libsndfile is loaded before `encode` runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from synth.audio.samples import resample
from synth.types import Pcm

COMMON_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
DEFAULT_SAMPLE_RATE = 24000

Encoder = Callable[[Pcm, int | None], bytes]
"""Samples at the file's own rate, and kbit/s (None where the format has none)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Format:
    """An output format. `rates` maps each sample rate to its bitrates in kbit/s, lowest first; none: lossless."""

    name: str
    media_type: str
    extension: str
    rates: Mapping[int, tuple[int, ...]]
    encoder: Encoder
    default_sample_rate: int = DEFAULT_SAMPLE_RATE
    default_bitrate: int | None = None
    media_type_has_rate: bool = False

    @property
    def sample_rates(self) -> tuple[int, ...]:
        return tuple(sorted(self.rates))

    def bitrates_for(self, sample_rate: int) -> tuple[int, ...]:
        """Raises LookupError for a sample rate that the format lacks."""
        if sample_rate not in self.rates:
            raise LookupError(f"{self.name} has no sample rate {sample_rate}; it has: {_listed(self.sample_rates)}")
        return self.rates[sample_rate]

    def default_bitrate_for(self, sample_rate: int) -> int | None:
        """The default bitrate, or the nearest that this sample rate allows."""
        allowed = self.bitrates_for(sample_rate)
        if self.default_bitrate is None or not allowed:
            return None
        wanted = self.default_bitrate
        return min(allowed, key=lambda bitrate: abs(bitrate - wanted))

    def media_type_for(self, sample_rate: int) -> str:
        return f"{self.media_type};rate={sample_rate}" if self.media_type_has_rate else self.media_type

    def require(self, *, sample_rate: int, bitrate: int | None) -> None:
        """Raises LookupError, in a sentence that tells the choices, for a pair that the format lacks."""
        allowed = self.bitrates_for(sample_rate)
        if not allowed and bitrate is not None:
            raise LookupError(f"{self.name} has no bitrate to choose")
        if allowed and bitrate not in allowed:
            choices = _listed(allowed)
            raise LookupError(f"{self.name} at {sample_rate} Hz has no bitrate {bitrate}; it has: {choices}")

    def encode(self, pcm: Pcm, *, sample_rate: int, bitrate: int | None) -> bytes:
        """The whole file. Equal samples give equal bytes, in every process with the same libraries."""
        self.require(sample_rate=sample_rate, bitrate=bitrate)
        if not len(pcm.samples):
            raise ValueError("there are no samples to encode")
        return self.encoder(resample(pcm, sample_rate), bitrate)


def _listed(values: tuple[int, ...]) -> str:
    return ", ".join(str(value) for value in values)
