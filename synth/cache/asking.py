"""What the one round trip of a request asks, and what it answers. Values; `store.py` and the service share them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from synth.cache.policy import Retention
from synth.types import StoredAudio
from tenants.limits import Allowance
from tenants.types import Limit


class Status(StrEnum):
    HIT = "hit"
    STALE_HIT = "stale_hit"  # beyond its time, and served while it is made anew
    MISS = "miss"
    EXPIRED = "expired"
    ADMITTED = "admitted"  # nothing was looked up
    LIMITED = "limited"
    OUTDATED = "outdated"  # the caller's snapshot is old: load it again
    RELOAD = "reload"  # Redis knows no version, an older one, or was away meanwhile: ask the database, and confirm
    UNSEEDED = "unseeded"  # Redis has lost the tenant's account: begin it by what the database knows
    AWAY = "away"


HITS = frozenset({Status.HIT, Status.STALE_HIT})
# What stands: neither the snapshot nor Redis is in doubt.
SETTLED = HITS | {Status.MISS, Status.EXPIRED, Status.ADMITTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What lets a request in. `key` names its API key; `counted`: it was let in before, and asks again."""

    version: int
    key: str = ""
    tenant_limit: Limit | None = None
    key_limit: Limit | None = None
    counted: bool = False

    def arguments(self, *, believed: bool) -> list[Any]:
        """As hit.lua takes them."""
        return [
            self.version,
            int(believed),
            int(self.counted),
            self.key,
            *_step_and_burst(self.tenant_limit),
            *_step_and_burst(self.key_limit),
        ]

    def allowances(self, full_in: list[bytes]) -> tuple[Allowance, ...]:
        """What is left of the limits, from the script's microseconds."""
        limits = (("tenant", self.tenant_limit), ("key", self.key_limit))
        told = zip(limits, full_in, strict=False)  # an answer that did nothing tells nothing
        return tuple(Allowance(name, limit, int(full)) for (name, limit), full in told if limit and full)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is looked up. `held_digest` names audio that the caller has already; `event` goes to the usage stream."""

    retention: Retention
    want_audio: bool = False
    held_digest: str = ""
    event: bytes = b""

    def arguments(self) -> list[Any]:
        """As hit.lua takes them."""
        rule = self.retention
        return [
            rule.max_age,
            rule.hot_max_age,
            rule.hot_hits,
            rule.hot_window,
            rule.stale,
            int(self.want_audio),
            self.held_digest,
            self.event,
        ]


@dataclass(frozen=True, slots=True)
class Lookup:
    """`age` is seconds; `audio` is None where it was not asked for, not kept, or the caller has it.

    `counted`: Redis has let the request in and counted it, whatever else it answers; `recorded`: as a hit, with a usage
    event.
    """

    status: Status
    stored: StoredAudio | None = None
    age: float = 0.0
    audio: bytes | None = None
    allowances: tuple[Allowance, ...] = ()
    counted: bool = False
    recorded: bool = False


def _step_and_burst(limit: Limit | None) -> tuple[int, int]:
    return (limit.step, limit.burst) if limit else (0, 0)
