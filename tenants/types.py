"""Frozen values that say who is calling. Every part of Refrain may import these."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class TenantRef:
    """Names one tenant. Keys are scoped by this value, so that no caller can leave the tenant out."""

    id: UUID


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated API key and what it may do."""

    tenant: TenantRef
    key_id: UUID
    scopes: frozenset[str]
