"""Frozen values that say who is calling. Every part of Refrain may import these."""

from dataclasses import dataclass
from math import ceil
from uuid import UUID

from tenants.quotas import NO_QUOTAS, Quotas


@dataclass(frozen=True, slots=True)
class TenantRef:
    """Names one tenant. Keys are scoped by this value, so that no caller can leave the tenant out."""

    id: UUID


@dataclass(frozen=True, slots=True)
class Limit:
    """A token bucket: `burst` requests at once, and `rate` a second in the long run."""

    rate: float
    burst: int

    @property
    def step(self) -> int:
        """Microseconds in which one request comes back, rounded up: in whole numbers nothing is ever let in twice."""
        return ceil(1_000_000 / self.rate)


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated API key, what it may do, and how much of it; `limit`, `quotas` and `max_open_jobs`

    (0: any number) are the key's own.
    """

    tenant: TenantRef
    key_id: UUID
    scopes: frozenset[str]
    limit: Limit | None = None
    quotas: Quotas = NO_QUOTAS
    max_open_jobs: int = 0
