"""Reference audio as values: what an upload may be, what is kept of it, and why one is refused.

The io worker calls `apart.read_reference_apart`, which reads in a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synth.types import Pcm

# Refusals that say nothing against the file: the same upload may be read a moment later.
PASSING = frozenset({"decoder_unavailable", "decoder_timed_out"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLimits:
    """What is accepted. Seconds, bytes and Hz; `seconds_of_work` and `address_space` bound the process that reads.

    A sound beyond `bomb_seconds` is not somebody's long recording but a file made to unpack for ever.
    """

    max_bytes: int = 20 * 1024 * 1024
    shortest: float = 3.0
    longest: float = 30.0
    bomb_seconds: float = 3600.0
    lowest_rate: int = 8000
    highest_rate: int = 192_000
    kept_rate: int = 48_000
    max_channels: int = 2
    least_snr_db: float = 12.0
    seconds_of_work: float = 20.0
    cpu_seconds: int = 10
    address_space: int = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceAudio:
    """A reference as it is kept: mono, its samples on the steps of 16 bits, so that `pcm.to_flac` loses nothing.

    `format` is what the upload was: wav, mp3, flac, ogg or m4a. `snr_db` is `quality.signal_to_noise` of it.
    """

    pcm: Pcm
    fingerprint: str
    format: str
    snr_db: float

    @property
    def seconds(self) -> float:
        return self.pcm.duration


class ReferenceRefused(Exception):  # noqa: N818
    """An upload that cannot be a reference. `code` is stable.

    `message` is an untranslated template with `%(name)s` places, filled from `params`, as in `tenants.errors`.
    """

    def __init__(self, code: str, message: str, params: Mapping[str, Any] | None = None) -> None:
        self.code = code
        self.message = message
        self.params = dict(params or {})
        super().__init__(code, message, self.params)

    def __str__(self) -> str:
        return f"{self.code}: {self.message % self.params if self.params else self.message}"

    @property
    def may_pass(self) -> bool:
        """Whether it was the machine, not the file."""
        return self.code in PASSING
