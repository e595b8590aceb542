"""Rate limits as values: what a tenant or a key may ask, what is left of it, and the share of one process.

Redis keeps the buckets (`synth/cache/hit.lua` does this same arithmetic); `LocalBuckets` stands in while it is away.
A bucket is one number, the microsecond at which it is full again: a request moves that on by the limit's step, and is
refused when it would lie further ahead than a whole bucket takes to fill.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from threading import Lock
from typing import Self

from cachetools import LRUCache

from tenants.errors import Problem
from tenants.errors import untranslated as _
from tenants.quotas import QuotaState
from tenants.types import Limit

MAX_RATE = 100_000.0
MIN_RATE = 0.001
MAX_BURST = 1_000_000
MAX_WORK = 1_000_000  # jobs that wait, and sentences that are spoken at a time
MAX_OWN_RULES = 200  # TTL rules that a tenant makes itself
MAX_OWN_TTL = 10 * 365 * 86_400
MAX_BUCKETS = 20_000
SECOND = 1_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of one limit: its bucket is full again in `full_in` microseconds. `name` is tenant or key."""

    name: str
    limit: Limit
    full_in: int

    @property
    def remaining(self) -> int:
        return max(0, self.limit.burst - ceil(self.full_in / self.limit.step))

    @property
    def wait(self) -> float:
        """Seconds until one more request is let in."""
        return max(0, self.full_in - (self.limit.burst - 1) * self.limit.step) / SECOND

    def policy(self, now: datetime) -> str:  # noqa: ARG002 - as a quota's
        """A member of `RateLimit-Policy`: the window is the time in which an empty bucket fills."""
        window = ceil(self.limit.step * self.limit.burst / SECOND)
        return f'"{self.name}";q={self.limit.burst};w={window}'

    def state(self, now: datetime) -> str:  # noqa: ARG002 - as a quota's
        """A member of `RateLimit`."""
        return f'"{self.name}";r={self.remaining};t={ceil(max(0, self.full_in) / SECOND)}'


@dataclass(slots=True)
class Admission:
    """One request on its way: it is counted once, however often it asks the cache.

    `recorded`: the cache has written its usage event. `degraded`: Redis was away, or could not be believed. `charged`:
    its characters are counted, where there is a quota of them.
    """

    admitted: bool = False
    charged: bool = False
    recorded: bool = False
    degraded: bool = False
    allowances: tuple[Allowance | QuotaState, ...] = field(default=())


class RateLimited(Problem):
    status = 429
    code = "rate_limited"
    title = _("Too many requests")
    detail = _("The rate limit of this account is used up. Wait as long as Retry-After says.")
    of_key = _("The rate limit of this key is used up. Wait as long as Retry-After says.")

    def __init__(self, allowances: tuple[Allowance, ...]) -> None:
        """The limit that takes longest to let a request in is the one to tell of."""
        longest = max(allowances, key=lambda allowance: allowance.wait)
        self.allowances = allowances
        super().__init__(self.of_key if longest.name == "key" else None, retry_after=ceil(longest.wait * 1000) / 1000)


def limit_of(rate: float | None, burst: int | None, *, default: Limit | None = None) -> Limit | None:
    """The limit that two settings mean: no rate is the default, 0 is no limit; without a burst it is one second's."""
    if rate is None:
        return default
    return Limit(rate, burst or max(1, ceil(rate))) if rate > 0 else None


def header_fields(allowances: Sequence[Allowance | QuotaState]) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit` as draft-ietf-httpapi-ratelimit-headers-10 has them; none without limits."""
    if not allowances:
        return {}
    now = datetime.now(UTC)
    fields = {"RateLimit-Policy": ", ".join([allowance.policy(now) for allowance in allowances])}
    states = ", ".join([state for state in [allowance.state(now) for allowance in allowances] if state])
    return fields | {"RateLimit": states} if states else fields


@dataclass(frozen=True, slots=True)
class Metered:
    """A limit and the bucket that it is kept in. `name` is tenant or key."""

    name: str
    bucket: str
    limit: Limit


class LocalBuckets:
    """The buckets of one of `processes` processes, each with its share of every limit.

    All of them together let in no more than the limit does, counted from their first request on. With a burst of at
    least one request a process that holds over any span of time.

    A Redis that comes and goes would add its own allowance to theirs. So a process goes on from what Redis told last
    (`follow`), and tells Redis of the state of the buckets that it has used alone since (`owed`).
    """

    def __init__(self, *, processes: int) -> None:
        self._processes = processes
        self._lock = Lock()
        self._full_at: LRUCache[str, int] = LRUCache(MAX_BUCKETS)
        self._alone: LRUCache[str, bool] = LRUCache(MAX_BUCKETS)

    def owed(self, metered: Sequence[Metered], *, now: int | None = None) -> tuple[int, ...]:
        """In how many microseconds each bucket is full that was used without Redis; 0 for the others.

        Redis takes its own bucket to be at least that far. Each process's steps are as long as those of all, so the
        furthest of them covers them all.
        """
        if not self._alone:  # as nearly always
            return (0,) * len(metered)
        moment = _now() if now is None else now
        with self._lock:
            return tuple(
                max(0, self._full_at.get(item.bucket, 0) - moment) if item.bucket in self._alone else 0
                for item in metered
            )

    def follow(self, metered: Sequence[Metered], allowances: Sequence[Allowance], *, now: int | None = None) -> None:
        """Redis let a request in, and said what is left."""
        moment = _now() if now is None else now
        with self._lock:
            for item, allowance in zip(metered, allowances, strict=False):
                self._full_at[item.bucket] = moment + allowance.full_in
                self._alone.pop(item.bucket, None)

    def take(self, metered: Sequence[Metered], *, now: int | None = None) -> tuple[Allowance, ...]:
        """Let one request in by all of these limits, or by none: then RateLimited is raised.

        `now` is microseconds of a clock that never goes back.
        """
        moment = _now() if now is None else now
        shares = [_Share.of(item.limit, self._processes) for item in metered]
        with self._lock:
            before = [
                share.full_at(self._full_at.get(item.bucket), moment)
                for item, share in zip(metered, shares, strict=True)
            ]
            after = [full_at + share.step for full_at, share in zip(before, shares, strict=True)]
            admitted = all(full_at <= moment + share.room for full_at, share in zip(after, shares, strict=True))
            now_full_at = after if admitted else before
            self._full_at.update({item.bucket: full_at for item, full_at in zip(metered, now_full_at, strict=True)})
            self._alone.update({item.bucket: True for item in metered})
        told = tuple(
            Allowance(item.name, share.limit, full_at - moment)
            for item, share, full_at in zip(metered, shares, now_full_at, strict=True)
        )
        if not admitted:
            raise RateLimited(told)
        return told


def _now() -> int:
    return time.monotonic_ns() // 1000


@dataclass(frozen=True, slots=True)
class _Share:
    """One process's share of a limit, in microseconds: the step of a request, and what a full bucket holds."""

    limit: Limit
    step: int
    depth: int

    @classmethod
    def of(cls, limit: Limit, processes: int) -> Self:
        shared = Limit(limit.rate / processes, max(1, limit.burst // processes))
        return cls(shared, step=limit.step * processes, depth=limit.step * limit.burst)

    @property
    def room(self) -> int:
        """A share of less than one request grows to one in time, and starts with what it is."""
        return max(self.depth, self.step)

    def full_at(self, noted: int | None, now: int) -> int:
        start = now + self.room - self.depth if noted is None else noted
        return min(max(start, now), now + self.room)
