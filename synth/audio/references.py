"""Reference audio as values: what an upload may be, what is kept of it, and why one is refused.

The io worker calls `apart.read_reference_apart`, which reads in a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synth.types import Pcm
from tenants.errors import untranslated as _

REFUSALS = {
    "not_audio": _("This is not an audio file. Send wav, mp3, flac or ogg."),
    "unsupported_format": _("Audio as %(format)s cannot be read here. Send wav, mp3, flac or ogg."),
    "too_large": _("The file has more than %(most)s bytes."),
    "too_short": _("The recording lasts %(seconds)s s. At least %(least)s s are needed."),
    "too_long": _("The recording lasts longer than %(most)s s. Send the best part of it."),
    "silent": _("Only %(seconds)s s of the recording are louder than silence. At least %(least)s s are needed."),
    "clipped": _("The recording is too loud: %(percent)s %% of it are cut off at full scale. Record it more quietly."),
    "too_noisy": _("The loud parts are only %(snr_db)s dB above the quiet ones. At least %(least)s dB are needed."),
    "truncated": _("The file is damaged or breaks off before its end."),
    "bomb": _("The file unpacks to more sound than is read."),
    "too_many_channels": _("The recording has %(channels)s channels. At most %(most)s are read."),
    "sample_rate_too_low": _("The recording has %(rate)s samples a second. At least %(least)s are needed."),
    "not_finite": _("The recording holds samples that are not numbers."),
    "undecodable": _("The file cannot be decoded."),
    "too_costly": _("Decoding the file takes more time or memory than an upload may."),
    "decoder_timed_out": _("The file was not decoded in time. Try again in a moment."),
    "decoder_unavailable": _("Audio cannot be decoded at the moment. Try again in a moment."),
}
# Those that say nothing against the file: the same upload may be read a moment later.
PASSING = frozenset({"decoder_unavailable", "decoder_timed_out"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLimits:
    """What is accepted: bytes, seconds, Hz, decibels. The last three bound the process that reads.

    A sound beyond `bomb_seconds` or `highest_rate` is not somebody's long recording but made to unpack for ever.
    `least_sound` are seconds that are louder than silence.
    """

    max_bytes: int = 20 * 1024 * 1024
    shortest: float = 3.0
    longest: float = 30.0
    bomb_seconds: float = 3600.0
    lowest_rate: int = 8000
    highest_rate: int = 192_000
    kept_rate: int = 48_000
    max_channels: int = 2
    least_sound: float = 1.0
    least_snr_db: float = 15.0
    seconds_of_work: float = 20.0
    cpu_seconds: int = 10
    address_space: int = 768 * 1024 * 1024


DEFAULT_LIMITS = ReferenceLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceAudio:
    """A reference as it is kept: mono, its samples on the steps of 16 bits, so that `pcm.to_flac` loses nothing.

    `format` is what the upload was: wav, mp3, flac, ogg or m4a. `snr_db` is `reference_checks.signal_to_noise` of it.
    """

    pcm: Pcm
    fingerprint: str
    format: str
    snr_db: float

    @property
    def seconds(self) -> float:
        return self.pcm.duration


class ReferenceRefused(Exception):  # noqa: N818
    """An upload that cannot be a reference. `code` is one of REFUSALS, and stable.

    `message` is an untranslated template with `%(name)s` places, filled from `params`, as in `tenants.errors`.
    """

    def __init__(self, code: str, params: Mapping[str, Any] | None = None) -> None:
        self.code = code
        self.message = REFUSALS[code]
        self.params = dict(params or {})
        super().__init__(f"{code}: {self.message % self.params}")

    @property
    def may_pass(self) -> bool:
        """Whether it was the machine, not the file."""
        return self.code in PASSING
