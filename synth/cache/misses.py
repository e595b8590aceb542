"""Why a request was no hit, and which parameters kept it from being one. Pure; service/missing.py brings what is known.

Two renditions are near when their texts are alike: the same but for words that hold digits. So a client is found that
sends a random seed, or the time in its text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Any
from uuid import UUID

from synth.metrics import MissReason
from synth.types import CacheMode, Spec
from tenants.encryption import is_own

TEXT = "text"
# What a caller does not choose: where nothing else differs, it is we who changed.
OURS = frozenset({"model_version", "voice_fingerprint", "normaliser", "splitter", "loudness", "pause_ms"})
# What differs along with another parameter, and says no more than that one.
FOLLOWS: Mapping[str, frozenset[str]] = {
    "engine": frozenset({"model_version", "voice", "voice_fingerprint", "language", "splitter", "normaliser"}),
    "voice": frozenset({"voice_fingerprint", "language"}),
    "format": frozenset({"sample_rate", "bitrate"}),
}

# ASCII words, numbers and ids with a digit in them. Each begins where no such character stands before it, so that a
# long word is tried once and not from each of its letters.
_NUMBERED = re.compile(r"(?<![A-Za-z_\-\d])[A-Za-z_\-]*\d[A-Za-z_\-\d]*")
_GAP = "\0"  # no normalised text holds one
_GAPS = re.compile(r"\0(?:[-.,:/ ]*\0)+")


class Standing(StrEnum):
    """What the catalogue had under the key of a request when that was made."""

    ABSENT = ""
    KEPT = "kept"
    LOST = "lost"  # its audio is gone from storage
    PURGED = "purged"


def standing(at: datetime, *, created: datetime, purged: datetime | None, lost: bool) -> Standing:
    """By the catalogue's row of the key, as it stood at that time."""
    if created > at:
        return Standing.ABSENT
    if purged is not None and purged <= at:
        return Standing.PURGED
    return Standing.LOST if lost else Standing.KEPT


@dataclass(frozen=True, slots=True)
class Difference:
    """One parameter, with the values of both where they are short and are no text of the tenant's."""

    parameter: str
    value: Any = None
    other: Any = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another rendition with a text alike. Its text is not needed again: `same_text` says whether it is equal.

    `was_kept`: it had been stored before this one was asked for.
    """

    id: UUID
    spec: Spec
    same_text: bool
    was_kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a miss. `neighbours` were asked for before it, the newest first; `older_model`: the same is

    stored as an earlier version of the model spoke it.
    """

    spec: Spec
    cache: CacheMode = CacheMode.USE
    stored: bool = True
    degraded: bool = False
    standing: Standing = Standing.ABSENT
    older_model: bool = False
    neighbours: Sequence[Neighbour] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """`nearest` is the rendition that came closest, `differences` what differed from it."""

    reason: MissReason
    differences: tuple[Difference, ...] = ()
    nearest: UUID | None = None


def judge(facts: Facts) -> Verdict:
    """The first reason that holds: what the caller wanted, how Redis was, what had been stored, what came close."""
    decided = _decided(facts)
    if decided is not None:
        return Verdict(decided)
    if facts.older_model:
        return Verdict(MissReason.MODEL_CHANGED, (Difference("model_version"),))
    near = [(other, differing(facts.spec, other.spec, same_text=other.same_text)) for other in facts.neighbours]
    if any(other.was_kept and not differences for other, differences in near):
        return Verdict(MissReason.EXPIRED)  # so long ago that the catalogue has forgotten it
    near = [(other, differences) for other, differences in near if differences]
    if not near:
        return Verdict(MissReason.FIRST_SEEN)
    nearest, differences = min(near, key=lambda pair: len(pair[1]))
    ours = all(item.parameter in OURS for item in differences)
    return Verdict(MissReason.MODEL_CHANGED if ours else MissReason.NEAR_MISS, differences, nearest.id)


def needs_neighbours(facts: Facts) -> bool:
    """Whether what came close can matter at all."""
    return _decided(facts) is None and not facts.older_model


def _decided(facts: Facts) -> MissReason | None:
    if facts.cache is CacheMode.BYPASS or not facts.stored:
        return MissReason.BYPASSED
    if facts.cache is CacheMode.REFRESH:
        return MissReason.REFRESHED
    if facts.degraded:
        return MissReason.DEGRADED
    return {
        Standing.PURGED: MissReason.PURGED,
        Standing.LOST: MissReason.EVICTED,
        Standing.KEPT: MissReason.EXPIRED,  # it was there, whole, and still not served
    }.get(facts.standing)


def differing(spec: Spec, other: Spec, *, same_text: bool) -> tuple[Difference, ...]:
    """The parameters that differ, by name, without those that only follow from another one."""
    found = {item.parameter: item for item in _compared(spec, other)}
    following = {name for cause in found for name in FOLLOWS.get(cause, ())}
    kept = [found[name] for name in sorted(found.keys() - following)]
    return tuple(kept if same_text else [Difference(TEXT), *kept])


def _compared(spec: Spec, other: Spec) -> Iterable[Difference]:
    for mine, others in ((spec.manner, other.manner), (spec.output, other.output)):
        for field in fields(mine):
            value, another = getattr(mine, field.name), getattr(others, field.name)
            if value != another:
                yield Difference(field.name, _told(value), _told(another))


def _told(value: Any) -> Any:
    """Emotions and pronunciations hold words of the tenant's: they are named, not shown."""
    return value if isinstance(value, (str, int, float)) else None


def likeness(spec: Spec) -> str:
    """32 hexadecimal digits, the same for texts that differ in words with digits alone; '' where that may not be noted:

    a tenant with a key of its own does not want anything of its texts to be kept in clear.
    """
    if is_own(spec.manner.encryption_key_id or ""):
        return ""
    text = spec.text
    folded = _GAPS.sub(_GAP, _NUMBERED.sub(_GAP, text))
    # A text that is mostly numbers is told apart by them.
    kept = folded if len(folded) * 2 >= len(text) else text
    return blake2b(kept.encode(), digest_size=16).hexdigest()
