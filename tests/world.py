"""The small fixed world of the tests: an owner, a stranger and a suspended tenant, each with a full-scope key."""

from dataclasses import dataclass
from typing import Self

import pytest

from tenants import service
from tenants.models import ApiKey, Tenant
from tenants.scopes import ALL
from tenants.types import Caller, TenantRef


@dataclass(frozen=True)
class Member:
    """A tenant with one key and the token that was shown for it."""

    tenant: Tenant
    key: ApiKey
    token: str

    @classmethod
    def make(cls, name: str) -> Self:
        tenant = service.create_tenant(name)
        key, token = service.issue_key(tenant, f"{name}'s key", ALL)
        return cls(tenant, key, token)

    @property
    def ref(self) -> TenantRef:
        return self.tenant.ref

    @property
    def caller(self) -> Caller:
        return Caller(tenant=self.ref, key_id=self.key.id, scopes=ALL)

    @property
    def headers(self) -> dict[str, str]:
        """For Django's and other clients: `client.get(path, headers=member.headers)`."""
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(frozen=True)
class World:
    owner: Member
    stranger: Member
    suspended: Member


def make_world() -> World:
    world = World(Member.make("Owner"), Member.make("Stranger"), Member.make("Suspended"))
    service.suspend_tenant(world.suspended.tenant)
    return world


@pytest.fixture
def world(db: None) -> World:
    return make_world()
