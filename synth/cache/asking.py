"""What the one round trip of a request asks, and what it answers. Values; `store.py` and the service share them.

Named tuples: each hit makes one of each, and a frozen dataclass takes ten times as long to make.
"""

from collections.abc import Sequence
from enum import StrEnum
from struct import Struct
from typing import NamedTuple

from synth.cache.policy import Retention
from synth.types import StoredAudio
from tenants.limits import Allowance
from tenants.quotas import ASKED, KEY, TENANT, Quotas, QuotaState
from tenants.types import Limit


class Status(StrEnum):
    HIT = "hit"
    STALE_HIT = "stale_hit"  # beyond its time, or an earlier model's, and served while it is made anew
    MISS = "miss"
    EXPIRED = "expired"
    ADMITTED = "admitted"  # nothing was looked up
    LIMITED = "limited"
    EXHAUSTED = "exhausted"  # beyond a quota
    OUTDATED = "outdated"  # the caller's snapshot is old: load it again
    RELOAD = "reload"  # Redis knows no version, an older one, or was away meanwhile: ask the database, and confirm
    UNSEEDED = "unseeded"  # Redis has lost the tenant's account: begin it by what the database knows
    AWAY = "away"


# Whole numbers stay exact up to 2**53.
GATE_NUMBERS = Struct("<9d")
QUOTA_NUMBERS = Struct("<11d")
RULE_NUMBERS = Struct("<7d")
HITS = frozenset({Status.HIT, Status.STALE_HIT})
ASKED_OF = tuple((scope, quota) for scope in (TENANT, KEY) for quota in ASKED)
# What stands: neither the snapshot nor Redis is in doubt.
SETTLED = HITS | {Status.MISS, Status.EXPIRED, Status.ADMITTED}


class Asked(NamedTuple):
    """The characters of a request, and the quotas that they must fit into: the tenant's and the key's.

    `owed` was let in without Redis, by quota: those of `counts`.
    """

    characters: int
    tenant: Quotas
    key: Quotas
    owed: tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def limits(self) -> tuple[int, int, int, int]:
        return (*self.tenant.asked, *self.key.asked)

    def packed(self) -> bytes:
        """As hit.lua takes it."""
        return QUOTA_NUMBERS.pack(self.characters, *self.limits, *self.owed, self.tenant.epoch, self.key.epoch)

    def counts(self, key: str) -> list[tuple[str, int, int]]:
        """The counts that there are: as hit.lua names them, their quotas and their places among the four."""
        of_tenant, of_key = f"/{self.tenant.epoch}", f"/{self.key.epoch}:{key}"
        names = [f"{period}_asked{whose}" for whose in (of_tenant, of_key) for period in ("day", "month")]
        numbered = enumerate(zip(names, self.limits, strict=True))
        return [(name, limit, place) for place, (name, limit) in numbered if limit]

    def states(self, used: Sequence[int | None]) -> tuple[QuotaState, ...]:
        """What is left of each, by what is used."""
        found = zip(ASKED_OF, self.limits, used, strict=True)
        return tuple(QuotaState(scope, quota, limit, count) for (scope, quota), limit, count in found if limit)


class Gate(NamedTuple):
    """What lets a request in. `key` names its API key; `counted`: it was let in before, and asks again.

    `…_owed`: the limit's bucket is full in that many microseconds at the earliest, by what was let in without Redis.
    `asked` is None where no quota is to be asked.
    """

    version: int
    key: str = ""
    tenant_limit: Limit | None = None
    key_limit: Limit | None = None
    counted: bool = False
    tenant_owed: int = 0
    key_owed: int = 0
    asked: Asked | None = None

    def arguments(self, *, believed: bool) -> list[bytes | str]:
        """As hit.lua takes them."""
        tenant, key = _step_and_burst(self.tenant_limit), _step_and_burst(self.key_limit)
        owed = self.tenant_owed, self.key_owed
        numbers = GATE_NUMBERS.pack(self.version, believed, self.counted, *tenant, *key, *owed)
        return [numbers + self.asked.packed() if self.asked else numbers, self.key]

    def allowances(self, full_in: list[bytes]) -> tuple[Allowance, ...]:
        """What is left of the limits, from the script's microseconds."""
        limits = (("tenant", self.tenant_limit), ("key", self.key_limit))
        told = zip(limits, full_in, strict=False)  # an answer that did nothing tells nothing
        return tuple(Allowance(name, limit, int(full)) for (name, limit), full in told if limit and full)


class Wanted(NamedTuple):
    """What is looked up. `held_digest` names audio that the caller has already; `event` goes to the usage stream, with

    what the audit has to tell.
    """

    retention: Retention
    want_audio: bool = False
    held_digest: str = ""
    event: bytes = b""
    audit: bytes = b""

    def arguments(self, *, stream_length: int) -> list[bytes | str]:
        """As hit.lua takes them."""
        rule = self.retention
        ages = rule.max_age, rule.hot_max_age, rule.hot_hits, rule.hot_window, rule.stale
        return [RULE_NUMBERS.pack(*ages, self.want_audio, stream_length), self.held_digest, self.event, self.audit]


class Lookup(NamedTuple):
    """`age` is seconds; `audio` is None where it was not asked for, not kept, or the caller has it. `place` says which

    of the keys it was found under.

    `counted`: Redis has let the request in and counted it, whatever else it answers; `recorded`: as a hit, with a usage
    event. `used` is what is used of each quota, this request with it.
    """

    status: Status
    stored: StoredAudio | None = None
    place: int = 0
    age: float = 0.0
    audio: bytes | None = None
    allowances: tuple[Allowance, ...] = ()
    counted: bool = False
    recorded: bool = False
    used: tuple[int, ...] = ()


def _step_and_burst(limit: Limit | None) -> tuple[int, int]:
    return (limit.step, limit.burst) if limit else (0, 0)
