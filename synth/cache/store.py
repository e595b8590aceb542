"""L2, the cache in Redis: the one round trip of a hit, and what fills it. Errors of Redis never reach a request."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, TypeVar
from uuid import UUID, uuid4

import orjson
from cachetools import LRUCache
from redis import Redis, RedisError

from synth import metrics
from synth.breaker import Breaker
from synth.cache.asking import HITS, SETTLED, Gate, Lookup, Status, Wanted
from synth.cache.incarnation import Incarnation
from synth.cache.scripts import Scripts
from synth.cache.usage_stream import USAGE_GROUP, Today
from synth.keys import USAGE_TENANTS, Kind, redis_key
from synth.types import StoredAudio
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

MAX_CONFIRMED = 5_000
MAX_HOT = 4_000
AWAY = -3
CHARGE_KEPT = 7 * 86_400  # seconds


class RenditionCache:
    """One per process. `connect` gives a client of the bounded pool; each method is one round trip.

    Redis is believed about a tenant's version only after the database has confirmed it once since Redis was last
    away: a Redis that came back may know an older one.
    """

    def __init__(
        self,
        connect: Callable[[], Redis],
        *,
        audio_limit: int,
        expiry: int,
        incarnation: Incarnation,
        stream_length: int = 360_000,
        breaker: Breaker | None = None,
    ) -> None:
        self._connect = connect
        self._incarnation = incarnation
        self._lock = Lock()
        self._confirmed: LRUCache[UUID, int] = LRUCache(MAX_CONFIRMED)
        self._audio_limit = audio_limit
        self._expiry = expiry
        self._stream_length = stream_length
        self._breaker = breaker or Breaker("the cache")
        self._scripts = Scripts()

    def look_up(self, tenant: TenantRef, names: tuple[str, ...], *, gate: Gate, wanted: Wanted) -> Lookup:
        """Let the request in, look the rendition up, count and note it: everything that a hit needs.

        `names` are its key and those of the same by earlier versions of the model: the first that may be served is.
        """
        return self._ask(tenant, gate, _hit_keys(tenant, names), wanted.arguments(stream_length=self._stream_length))

    def admit(self, tenant: TenantRef, gate: Gate) -> Lookup:
        """Let a request in that looks nothing up."""
        return self._ask(tenant, gate, _gate_keys(tenant), [])

    def _ask(self, tenant: TenantRef, gate: Gate, keys: Sequence[str], wanted: list[bytes | str]) -> Lookup:
        arguments = gate.arguments(believed=self._is_confirmed(tenant)) + wanted
        answer = self._run("hit", keys, arguments, default=None)
        if answer is None:
            return Lookup(Status.AWAY)
        status = Status(answer[0].decode())
        # Asked again: the answer may have come over a new connection, from another run.
        confirmed = self._is_confirmed(tenant)
        hit = confirmed and status in HITS
        used = answer[-1] if gate.asked and isinstance(answer[-1], list) else ()
        return Lookup(
            status if confirmed else Status.RELOAD,
            stored=StoredAudio(**orjson.loads(answer[3])) if hit else None,
            place=answer[6] if hit else 0,
            age=float(answer[4]) if hit else 0.0,
            audio=answer[5] if hit else None,
            allowances=gate.allowances(answer[1:3]),
            counted=gate.counted or status in SETTLED,
            recorded=status in HITS,
            used=tuple(used),
        )

    def seed(self, tenant: TenantRef, today: Today) -> None:
        """Begin the tenant's account, and the counts of its quotas, unless another process has."""
        keys = [redis_key(tenant, Kind.ACCOUNT), redis_key(tenant, Kind.USAGE)]
        counts = [part for count in today.counts for part in count]
        arguments = [today.day, today.requests, today.hits, uuid4().hex, USAGE_GROUP, *counts]
        self._run("seed", keys, arguments, default=None)

    def charge(self, tenant: TenantRef, counts: Sequence[tuple[str, int]], *, characters: int, mark: str) -> int | None:
        """Count characters once for each `mark`, or give them back. `counts` are names and quotas.

        None: it is done. -1: a count is to be begun first. AWAY: Redis is. Else the place of the quota that refuses.
        """
        keys = [redis_key(tenant, Kind.ACCOUNT), redis_key(tenant, Kind.CHARGE, mark)]
        arguments = [characters, CHARGE_KEPT, *(part for count in counts for part in count)]
        answer = self._run("charge", keys, arguments, default=AWAY)
        return None if answer == -1 else -1 if answer == -2 else int(answer)

    def fill(
        self,
        tenant: TenantRef,
        key: str,
        stored: StoredAudio,
        audio: bytes | None,
        *,
        purge_number: int = 0,
        pinned: bool = False,
    ) -> None:
        """Keep a rendition; its bytes too, if they are few enough.

        `purge_number` was the tenant's before the rendition's row was read: of what was purged since, nothing is kept.
        """
        kept = audio if audio is not None and len(audio) <= self._audio_limit else b""
        keys = [*_entry_keys(tenant, key), redis_key(tenant, Kind.PURGES)]
        meta = orjson.dumps(_meta(stored))
        arguments = [
            meta, stored.made, stored.digest, self._expiry, kept, purge_number, int(pinned), stored.duration
        ]  # fmt: skip
        self._run("fill", keys, arguments, default=None)

    def hits(self, tenant: TenantRef, keys: Sequence[str]) -> list[int]:
        """How often each of these was a hit since Redis has it; nothing is known while it is away."""

        def call(redis: Redis) -> list[int]:
            pipeline = redis.pipeline(transaction=False)
            for key in keys:
                pipeline.hget(redis_key(tenant, Kind.ENTRY, key), "hits")
            return [int(count or 0) for count in pipeline.execute()]

        return self._guarded(call, default=[0] * len(keys))

    def forget(self, tenant: TenantRef, key: str) -> None:
        self._guarded(lambda redis: redis.delete(*_entry_keys(tenant, key)), default=0)

    def purge_number(self, tenant: TenantRef) -> int | None:
        """How far Redis has followed the tenant's purges; None when it is away."""
        name = redis_key(tenant, Kind.PURGES)
        found = self._guarded(lambda redis: redis.get(name) or b"0", default=None, always=True)
        return None if found is None else int(found)

    def purge(self, tenant: TenantRef, keys: Sequence[str], *, since: int, upto: int) -> bool:
        """Drop these renditions, all those that the numbers after `since` and up to `upto` tell of.

        False when Redis is away. One that meanwhile went back behind `since` does nothing: ask its number again.
        Tried even while the breaker is open, as versions are.
        """
        names = [name for key in keys for name in _entry_keys(tenant, key)]

        def call(redis: Redis) -> bool:
            self._scripts.run("purge", redis, keys=[redis_key(tenant, Kind.PURGES), *names], args=[since, upto])
            return True

        return self._guarded(call, default=False, always=True)

    def forget_purge_number(self, tenant: TenantRef) -> None:
        name = redis_key(tenant, Kind.PURGES)
        self._guarded(lambda redis: redis.delete(name), default=0, always=True)

    def publish_versions(self, versions: Mapping[UUID, int]) -> bool:
        """Tell every process of new snapshot versions. Tried even while the breaker is open: the others may well

        reach Redis, and must not go on with what was changed.
        """

        def call(redis: Redis) -> bool:
            pipeline = redis.pipeline(transaction=False)
            for tenant_id, version in versions.items():
                name = redis_key(TenantRef(tenant_id), Kind.VERSION)
                self._scripts("version", redis)(keys=[name], args=[version], client=pipeline)
            pipeline.execute()
            return True

        return self._guarded(call, default=False, always=True)

    def confirm(self, tenant: TenantRef, version: int, *, incarnation: int) -> None:
        """Believe Redis about this tenant again: the database told its version after `incarnation` began.

        From now on hits may note usage, so those who drain it must know of the tenant.
        """
        told = self.publish_versions({tenant.id: version})
        if told and self._guarded(lambda redis: redis.sadd(USAGE_TENANTS, tenant.id.hex) >= 0, default=False):
            with self._lock:
                self._confirmed[tenant.id] = incarnation

    @property
    def incarnation(self) -> int:
        return self._incarnation.number

    def version(self, tenant: TenantRef) -> int | None:
        """The tenant's snapshot version; None when Redis is away, knows none, or cannot be believed yet."""
        name = redis_key(tenant, Kind.VERSION)
        value = self._guarded(lambda redis: redis.get(name), default=None)
        return None if value is None or not self._is_confirmed(tenant) else int(value)

    def _is_confirmed(self, tenant: TenantRef) -> bool:
        """To be asked after Redis has answered: the answer may have come over a new connection."""
        with self._lock:
            return self._confirmed.get(tenant.id) == self._incarnation.number

    def _run(self, name: str, keys: Sequence[str], arguments: list[Any], *, default: Any) -> Any:
        return self._guarded(lambda redis: self._scripts.run(name, redis, keys=keys, args=arguments), default=default)

    def _guarded(self, call: Callable[[Redis], Answer], *, default: Answer, always: bool = False) -> Answer:
        """`always`: also while the breaker is open."""
        if not self._breaker.allows() and not always:
            return default
        try:
            with metrics.redis_round_trip():
                answer = call(self._connect())
        except (RedisError, OSError) as error:
            self._breaker.failed(error)
            self._incarnation.was_away()
            return default
        self._breaker.succeeded()
        return answer


@lru_cache(MAX_HOT)
def _hit_keys(tenant: TenantRef, names: tuple[str, ...]) -> tuple[str, ...]:
    entries = [key for name in names for key in _entry_keys(tenant, name)]
    return (*_gate_keys(tenant), redis_key(tenant, Kind.USAGE), *entries)


def _gate_keys(tenant: TenantRef) -> list[str]:
    return [redis_key(tenant, Kind.VERSION), redis_key(tenant, Kind.ACCOUNT)]


def _entry_keys(tenant: TenantRef, key: str) -> list[str]:
    return [redis_key(tenant, Kind.ENTRY, key), redis_key(tenant, Kind.AUDIO, key)]


def _meta(stored: StoredAudio) -> dict[str, Any]:
    # Without a key as an older version, which may run beside this one, writes and reads it.
    names = StoredAudio.__slots__ if stored.sealed_by else StoredAudio.__slots__[:-1]
    return {name: getattr(stored, name) for name in names}
