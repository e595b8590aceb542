"""The usage events of hits, from the streams in Redis to those who write them down. `service/accounting.py` drains.

Each tenant has a stream, in the slot of its other keys: one script adds an event, and does everything else of a hit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar
from uuid import UUID

import orjson
from redis import Redis, ResponseError

from synth.breaker import Breaker
from synth.cache.scripts import Scripts
from synth.keys import USAGE_TENANTS, Kind, redis_key
from tenants.types import TenantRef

USAGE_GROUP = "drain"
# One name for all readers: what one of them had in hand when it died is found by its age, whoever it was.
READER = "drain"
ABANDONED_AFTER = 10_000  # ms
BATCH = 500


@dataclass(frozen=True, slots=True)
class Today:
    """What a tenant has asked today, as the database knows: `day` is days since 1970.

    `counts` are those of quotas: name, characters, key, and when their day or month began (Unix milliseconds).
    """

    day: int
    requests: int
    hits: int
    counts: tuple[tuple[str, int, str, int], ...] = ()


class Request(NamedTuple):
    """What an event tells of the request, in this order; the rest is known where it is answered."""

    request_id: str
    key_id: str
    engine: str
    voice: str
    language: str
    category: str
    delivery: str
    characters: int

    def packed(self) -> bytes:
        return orjson.dumps(tuple(self))


class AuditPart(NamedTuple):
    """What the audit has to tell beyond the usage: apart, since an older reader knows of none."""

    address: str = ""
    text_kind: str = ""
    text: str = ""

    def packed(self) -> bytes:
        return orjson.dumps(tuple(self))


NO_AUDIT = AuditPart()


@dataclass(frozen=True, slots=True)
class Event:
    """One hit. `at` is Unix seconds, `outcome` the script's status, `duration` the sound's seconds."""

    stream_id: str
    at: float
    outcome: str
    request: Request
    duration: float | None
    entry_id: str = ""
    audit: AuditPart = NO_AUDIT


@dataclass(frozen=True, slots=True)
class Losses:
    """Events that Redis cut before anyone read them: how many, beyond the `told` that are known; of which account."""

    count: int
    told: int
    account: str


class HasStreamId(Protocol):
    @property
    def stream_id(self) -> str: ...


Read = TypeVar("Read", bound=HasStreamId)


class Streams(Generic[Read]):
    """Reads the events of all tenants. Raises RedisError while Redis is away; the reader tells its breaker.

    A kind of stream says what its events are, where they and their counters are, and who may have some.
    """

    what: str
    stream: Kind
    account: Kind
    tenants: str

    def __init__(self, connect: Callable[[], Redis], *, abandoned_after: int = ABANDONED_AFTER) -> None:
        """`abandoned_after`: milliseconds after which a reader counts as dead."""
        self._connect = connect
        self._abandoned_after = abandoned_after
        self.breaker = Breaker(self.what, pause=1.0)
        self._scripts = Scripts()

    def waiting(self) -> list[TenantRef]:
        """The tenants that have events which nobody has written down yet."""
        redis = self._connect()
        tenants = [TenantRef(UUID(hex=_text(name))) for name in redis.smembers(self.tenants)]
        pipeline = redis.pipeline(transaction=False)
        for tenant in tenants:
            pipeline.xlen(redis_key(tenant, self.stream))
        lengths = pipeline.execute(raise_on_error=False)  # a node that is away keeps only its own tenants waiting
        return [tenant for tenant, length in zip(tenants, lengths, strict=True) if isinstance(length, int) and length]

    def read(self, tenant: TenantRef) -> list[Read]:
        """The next events, after those that a reader had in hand when it died."""
        redis: Any = self._connect()  # its types know of no one kind of answer
        name = redis_key(tenant, self.stream)
        try:
            return self._read(redis, name)
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            redis.xgroup_create(name, USAGE_GROUP, id="0", mkstream=True)
            return self._read(redis, name)

    def _read(self, redis: Any, name: str) -> list[Read]:
        found = redis.xautoclaim(name, USAGE_GROUP, READER, self._abandoned_after, count=BATCH)[1]
        if len(found) < BATCH:
            new = redis.xreadgroup(USAGE_GROUP, READER, {name: ">"}, count=BATCH - len(found))
            found = [*found, *(new[0][1] if new else [])]
        # Without fields: cut while a reader had it in hand.
        return [self.event(_text(stream_id), fields) for stream_id, fields in found if fields is not None]

    def event(self, stream_id: str, fields: dict[bytes, bytes]) -> Read:
        raise NotImplementedError

    def taken(self, tenant: TenantRef, events: Sequence[Read]) -> Losses:
        """These are written down: let them go, and say what was lost."""
        keys = [redis_key(tenant, self.stream), redis_key(tenant, self.account)]
        arguments = [USAGE_GROUP, *(event.stream_id for event in events)]
        redis = self._connect()
        count, told, account = self._scripts.run("taken", redis, keys=keys, args=arguments)
        return Losses(max(0, count), told, _text(account))

    def losses_told(self, tenant: TenantRef, losses: Losses) -> None:
        redis = self._connect()
        arguments = [losses.told, losses.count]
        self._scripts.run("lost", redis, keys=[redis_key(tenant, self.account)], args=arguments)


class UsageStreams(Streams[Event]):
    what = "the usage stream"
    stream, account, tenants = Kind.USAGE, Kind.ACCOUNT, USAGE_TENANTS

    def event(self, stream_id: str, fields: dict[bytes, bytes]) -> Event:
        return Event(
            stream_id,
            int(stream_id.partition("-")[0]) / 1000,
            _text(fields[b"o"]),
            Request(*orjson.loads(fields[b"r"])),
            float(fields[b"d"]) if fields[b"d"] else None,
            _text(fields.get(b"e", "")),
            AuditPart(*orjson.loads(fields[b"a"])) if fields.get(b"a") else NO_AUDIT,
        )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
