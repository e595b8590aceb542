"""L2, the cache in Redis: the one round trip of a hit, and what fills it. Errors of Redis never reach a request."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from uuid import UUID

import orjson
from cachetools import LRUCache
from redis import Redis, RedisError

from synth import metrics
from synth.breaker import Breaker
from synth.cache.incarnation import Incarnation
from synth.keys import Kind, redis_key
from synth.types import StoredAudio
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

MAX_CONFIRMED = 5_000


class Status(StrEnum):
    HIT = "hit"
    MISS = "miss"
    EXPIRED = "expired"
    STALE = "stale"  # the caller's snapshot is old: load it again
    RELOAD = "reload"  # Redis knows no version, an older one, or was away meanwhile: ask the database, and confirm
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Lookup:
    """`age` is seconds; `audio` is None where it was not asked for, not kept, or the caller has it."""

    status: Status
    stored: StoredAudio | None = None
    age: float = 0.0
    audio: bytes | None = None


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
        breaker: Breaker | None = None,
    ) -> None:
        self._connect = connect
        self._incarnation = incarnation
        self._lock = Lock()
        self._confirmed: LRUCache[UUID, int] = LRUCache(MAX_CONFIRMED)
        self._audio_limit = audio_limit
        self._expiry = expiry
        self._breaker = breaker or Breaker("the cache")
        self._scripts: dict[str, Any] = {}

    def look_up(
        self, tenant: TenantRef, key: str, *, version: int, max_age: int, want_audio: bool, held_digest: str = ""
    ) -> Lookup:
        """Everything that a hit needs. `held_digest` names audio that the caller has already."""
        keys = [redis_key(tenant, Kind.VERSION), *_entry_keys(tenant, key)]
        arguments = [version, max_age, int(want_audio), held_digest]
        answer = self._run("hit", keys, arguments, default=None)
        if answer is None:
            return Lookup(Status.AWAY)
        status = Status(answer[0].decode()) if self._is_confirmed(tenant) else Status.RELOAD
        if status is not Status.HIT:
            return Lookup(status)
        return Lookup(status, StoredAudio(**orjson.loads(answer[1])), float(answer[2]), answer[3])

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
        arguments = [meta, stored.made, stored.digest, self._expiry, kept, purge_number, int(pinned)]
        self._run("fill", keys, arguments, default=None)

    def forget(self, tenant: TenantRef, key: str) -> None:
        self._guarded(lambda redis: redis.delete(*_entry_keys(tenant, key)), default=0, proves=False)

    def purge_number(self, tenant: TenantRef) -> int | None:
        """How far Redis has followed the tenant's purges; None when it is away."""
        name = redis_key(tenant, Kind.PURGES)
        found = self._guarded(lambda redis: redis.get(name) or b"0", default=None, always=True, proves=False)
        return None if found is None else int(found)

    def purge(self, tenant: TenantRef, keys: Sequence[str], *, since: int, upto: int) -> bool:
        """Drop these renditions, all those that the numbers after `since` and up to `upto` tell of.

        False when Redis is away. One that meanwhile went back behind `since` does nothing: ask its number again.
        Tried even while the breaker is open, as versions are.
        """
        names = [name for key in keys for name in _entry_keys(tenant, key)]

        def call(redis: Redis) -> bool:
            script = self._script("purge", redis)
            script(keys=[redis_key(tenant, Kind.PURGES), *names], args=[since, upto], client=redis)
            return True

        return self._guarded(call, default=False, always=True)

    def forget_purge_number(self, tenant: TenantRef) -> None:
        name = redis_key(tenant, Kind.PURGES)
        self._guarded(lambda redis: redis.delete(name), default=0, always=True, proves=False)

    def publish_versions(self, versions: Mapping[UUID, int]) -> bool:
        """Tell every process of new snapshot versions. Tried even while the breaker is open: the others may well

        reach Redis, and must not go on with what was changed.
        """

        def call(redis: Redis) -> bool:
            pipeline = redis.pipeline(transaction=False)
            for tenant_id, version in versions.items():
                name = redis_key(TenantRef(tenant_id), Kind.VERSION)
                self._script("version", redis)(keys=[name], args=[version], client=pipeline)
            pipeline.execute()
            return True

        return self._guarded(call, default=False, always=True)

    def confirm(self, tenant: TenantRef, version: int, *, incarnation: int) -> None:
        """Believe Redis about this tenant again: the database told its version after `incarnation` began."""
        if self.publish_versions({tenant.id: version}):
            with self._lock:
                self._confirmed[tenant.id] = incarnation

    @property
    def incarnation(self) -> int:
        return self._incarnation.number

    def version(self, tenant: TenantRef) -> int | None:
        """The tenant's snapshot version; None when Redis is away, knows none, or cannot be believed yet."""
        name = redis_key(tenant, Kind.VERSION)
        value = self._guarded(lambda redis: redis.get(name), default=None, proves=False)
        return None if value is None or not self._is_confirmed(tenant) else int(value)

    def _is_confirmed(self, tenant: TenantRef) -> bool:
        """To be asked after Redis has answered: the answer may have come over a new connection."""
        with self._lock:
            return self._confirmed.get(tenant.id) == self._incarnation.number

    def _run(self, name: str, keys: list[str], arguments: list[Any], *, default: Any) -> Any:
        return self._guarded(
            lambda redis: self._script(name, redis)(keys=keys, args=arguments, client=redis), default=default
        )

    def _script(self, name: str, redis: Redis) -> Any:
        script = self._scripts.get(name)
        if script is None:
            source = Path(__file__).with_name(f"{name}.lua").read_text(encoding="utf-8")
            script = self._scripts[name] = redis.register_script(source)
        return script

    def _guarded(
        self, call: Callable[[Redis], Answer], *, default: Answer, always: bool = False, proves: bool = True
    ) -> Answer:
        """`always`: also while the breaker is open. `proves`: success says that Redis is back, since the call writes:

        a replica or a full Redis answers the others, and would open and close the breaker in turns.
        """
        if not self._breaker.allows() and not always:
            return default
        try:
            with metrics.redis_round_trip():
                answer = call(self._connect())
        except (RedisError, OSError) as error:
            self._breaker.failed(error)
            self._incarnation.was_away()
            return default
        if proves:
            self._breaker.succeeded()
        return answer


def _entry_keys(tenant: TenantRef, key: str) -> list[str]:
    return [redis_key(tenant, Kind.ENTRY, key), redis_key(tenant, Kind.AUDIO, key)]


def _meta(stored: StoredAudio) -> dict[str, Any]:
    return {name: getattr(stored, name) for name in StoredAudio.__slots__}
