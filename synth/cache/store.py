"""L2, the cache in Redis: the one round trip of a hit, and what fills it. Errors of Redis never reach a request."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import orjson
from redis import Redis, RedisError

from synth.cache.breaker import Breaker
from synth.keys import Kind, redis_key
from synth.types import StoredAudio
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class Status(StrEnum):
    HIT = "hit"
    MISS = "miss"
    EXPIRED = "expired"
    STALE = "stale"  # the caller's snapshot is old: load it again
    RELOAD = "reload"  # Redis knows no version, or an older one: tell it
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Lookup:
    """`age` is seconds; `audio` is None where it was not asked for, not kept, or the caller has it."""

    status: Status
    stored: StoredAudio | None = None
    age: float = 0.0
    audio: bytes | None = None


class RenditionCache:
    """One per process. `connect` gives a client of the bounded pool; each method is one round trip."""

    def __init__(self, connect: Callable[[], Redis], *, audio_limit: int, expiry: int) -> None:
        self._connect = connect
        self._audio_limit = audio_limit
        self._expiry = expiry
        self._breaker = Breaker("the cache")
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
        status = Status(answer[0].decode())
        if status is not Status.HIT:
            return Lookup(status)
        return Lookup(status, StoredAudio(**orjson.loads(answer[1])), float(answer[2]), answer[3])

    def fill(self, tenant: TenantRef, key: str, stored: StoredAudio, audio: bytes | None) -> None:
        """Keep a rendition; its bytes too, if they are few enough."""
        kept = audio if audio is not None and len(audio) <= self._audio_limit else b""
        arguments = [orjson.dumps(_meta(stored)), stored.made, stored.digest, self._expiry, kept]
        self._run("fill", _entry_keys(tenant, key), arguments, default=None)

    def forget(self, tenant: TenantRef, key: str) -> None:
        self._guarded(lambda redis: redis.delete(*_entry_keys(tenant, key)), default=0)

    def publish_versions(self, versions: Mapping[UUID, int]) -> None:
        """Tell every process of new snapshot versions."""
        for tenant_id, version in versions.items():
            self._run("version", [redis_key(TenantRef(tenant_id), Kind.VERSION)], [version], default=None)

    def version(self, tenant: TenantRef) -> int | None:
        """The tenant's snapshot version; None when Redis is away or knows none."""
        value = self._guarded(lambda redis: redis.get(redis_key(tenant, Kind.VERSION)), default=None)
        return None if value is None else int(value)

    def _run(self, name: str, keys: list[str], arguments: list[Any], *, default: Any) -> Any:
        def call(redis: Redis) -> Any:
            script = self._scripts.get(name)
            if script is None:
                source = Path(__file__).with_name(f"{name}.lua").read_text(encoding="utf-8")
                script = self._scripts[name] = redis.register_script(source)
            return script(keys=keys, args=arguments, client=redis)

        return self._guarded(call, default=default)

    def _guarded(self, call: Callable[[Redis], Answer], *, default: Answer) -> Answer:
        if not self._breaker.allows():
            return default
        try:
            answer = call(self._connect())
        except (RedisError, OSError) as error:
            self._breaker.failed(error)
            return default
        self._breaker.succeeded()
        return answer


def _entry_keys(tenant: TenantRef, key: str) -> list[str]:
    return [redis_key(tenant, Kind.ENTRY, key), redis_key(tenant, Kind.AUDIO, key)]


def _meta(stored: StoredAudio) -> dict[str, Any]:
    return {name: getattr(stored, name) for name in StoredAudio.__slots__}
