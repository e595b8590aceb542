"""Fresh sentences, handed from the engine worker that has spoken them to the io worker that joins them.

Only a short cut past a remote object store, on the way to which they are: what is not here, or is other than its digest
says, is read from storage.
"""

from collections.abc import Callable
from hashlib import sha256

from redis import Redis, RedisError

from synth.breaker import Breaker
from synth.keys import Kind, redis_key
from tenants.types import TenantRef

SECONDS = 30


class Handover:
    """Through Redis. `limit` is the bytes of the longest sentence that is handed on; 0 hands on none."""

    def __init__(self, connect: Callable[[], Redis], *, limit: int, breaker: Breaker | None = None) -> None:
        self._connect = connect
        self._limit = limit
        self._breaker = breaker or Breaker("the cache")

    def offer(self, tenant: TenantRef, digest: str, data: bytes) -> bool:
        """Whether it is here from now on, for some seconds."""
        if len(data) > self._limit:
            return False
        return bool(self._guarded(lambda redis: redis.set(_name(tenant, digest), data, ex=SECONDS)))

    def take(self, tenant: TenantRef, digest: str, *, is_sealed: bool = False) -> bytes | None:
        """The bytes with this digest, or None. What is sealed is for its key to check."""
        data = self._guarded(lambda redis: redis.get(_name(tenant, digest))) if self._limit else None
        return data if isinstance(data, bytes) and (is_sealed or sha256(data).hexdigest() == digest) else None

    def _guarded(self, call: Callable[[Redis], object]) -> object:
        if not self._breaker.allows():
            return None
        try:
            answer = call(self._connect())
        except (RedisError, OSError) as error:
            self._breaker.failed(error)
            return None
        self._breaker.succeeded()
        return answer


def _name(tenant: TenantRef, digest: str) -> str:
    return redis_key(tenant, Kind.HANDOVER, digest)
