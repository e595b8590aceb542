"""What was asked and done but for hits, on its way to the audit: doors add, `service/auditing.py` drains.

A stream of its own for each tenant, beside that of its hits, and one for who is no tenant.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from redis import Redis

from synth.cache.usage_stream import ABANDONED_AFTER, Streams
from synth.keys import AUDIT_TENANTS, Kind, redis_key
from tenants.types import TenantRef


@dataclass(frozen=True, slots=True)
class Noted:
    stream_id: str
    event: bytes


class AuditStreams(Streams[Noted]):
    what = "the audit stream"
    stream, account, tenants = Kind.AUDIT, Kind.AUDITED, AUDIT_TENANTS

    def __init__(self, connect: Callable[[], Redis], *, length: int, abandoned_after: int = ABANDONED_AFTER) -> None:
        """`length`: events that a tenant's stream holds; beyond it the oldest are cut, and counted as lost."""
        super().__init__(connect, abandoned_after=abandoned_after)
        self._length = length

    def add(self, tenant: TenantRef, event: bytes) -> None:
        """One round trip. It is counted after it is there: who drains in between finds none lost."""
        account = redis_key(tenant, self.account)
        pipeline = self._connect().pipeline(transaction=False)
        pipeline.sadd(self.tenants, tenant.id.hex)
        pipeline.xadd(redis_key(tenant, self.stream), {"v": event}, maxlen=self._length, approximate=True)
        pipeline.hincrby(account, "events", 1)
        pipeline.hincrby(account, "lost", 0)
        pipeline.hsetnx(account, "name", uuid4().hex)
        pipeline.execute()

    def event(self, stream_id: str, fields: dict[bytes, bytes]) -> Noted:
        return Noted(stream_id, fields[b"v"])
