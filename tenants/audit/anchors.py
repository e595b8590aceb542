"""The head of a chain as it is kept outside the database: who cuts the end off, or writes all anew, is found by it."""

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Self
from uuid import UUID

import orjson

from tenants.audit import sealing
from tenants.models import AuditChain


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """`last` events were sealed, the last segment as `mac`; `seal` vouches for this."""

    chain: UUID
    number: int
    last: int
    mac: str
    at: str
    key_id: int
    seal: str = ""

    @classmethod
    def of(cls, head: AuditChain) -> Self:
        bare = cls(
            chain=head.id,
            number=head.number,
            last=head.last,
            mac=head.mac,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            key_id=sealing.current_key(),
        )
        return replace(bare, seal=bare.expected_seal())

    @classmethod
    def read(cls, data: bytes) -> Self | None:
        """None where it is none, or its seal is wrong: then nothing vouches for it."""
        try:
            said = orjson.loads(data)
            anchor = cls(**{**said, "chain": UUID(said["chain"])})
            return anchor if sealing.same(anchor.expected_seal(), anchor.seal) else None
        except (ValueError, TypeError, KeyError, sealing.UnknownKey):
            return None

    def packed(self) -> bytes:
        return orjson.dumps(asdict(self))

    def expected_seal(self) -> str:
        content = [self.number, self.last, self.mac, self.at]
        return sealing.mac("anchor", self.chain, content, key_id=self.key_id)
