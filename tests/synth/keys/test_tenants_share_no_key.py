"""Names in Redis and in storage hold their tenant, and what is one tenant's lies in one slot of a Redis Cluster."""

import inspect
from uuid import UUID

from hypothesis import assume, given
from hypothesis import strategies as st
from redis.crc import key_slot

from synth import keys
from synth.keys import Kind, object_name, redis_key, scoped
from tenants.types import TenantRef

TENANTS = st.uuids().map(TenantRef)
NAMES = st.text("0123456789abcdef/:{}", max_size=20)
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
KINDS = st.sampled_from(Kind)


@given(TENANTS, TENANTS, KINDS, KINDS, NAMES, NAMES)
def test_no_redis_key_is_shared(
    mine: TenantRef, other: TenantRef, kind: Kind, other_kind: Kind, name: str, other_name: str
) -> None:
    assume(mine != other)
    assert redis_key(mine, kind, name) != redis_key(other, other_kind, other_name)


@given(TENANTS, KINDS, KINDS, NAMES, NAMES)
def test_no_two_names_of_a_tenant_are_one_redis_key(
    tenant: TenantRef, kind: Kind, other_kind: Kind, name: str, other_name: str
) -> None:
    equal = redis_key(tenant, kind, name) == redis_key(tenant, other_kind, other_name)
    assert equal is ((kind, name) == (other_kind, other_name))


@given(TENANTS, st.lists(st.tuples(KINDS, NAMES), min_size=2, max_size=10))
def test_all_keys_of_a_tenant_lie_in_one_slot(tenant: TenantRef, named: list[tuple[Kind, str]]) -> None:
    assert len({key_slot(redis_key(tenant, kind, name).encode()) for kind, name in named}) == 1


def test_tenants_spread_over_the_slots() -> None:
    tenants = [TenantRef(UUID(int=number)) for number in range(100)]
    assert len({key_slot(redis_key(tenant, Kind.ENTRY, "x").encode()) for tenant in tenants}) > 50


@given(TENANTS, TENANTS, DIGESTS)
def test_equal_bytes_of_two_tenants_are_two_objects(mine: TenantRef, other: TenantRef, digest: str) -> None:
    assert (object_name(mine, digest, "mp3") == object_name(other, digest, "mp3")) is (mine == other)
    assert object_name(mine, digest, "mp3").startswith(scoped(mine) + "/")


def test_whatever_names_a_thing_takes_a_tenant() -> None:
    for function in (keys.scoped, keys.redis_key, keys.object_name):
        first = next(iter(inspect.signature(function).parameters.values()))
        assert first.annotation is TenantRef
        assert first.default is inspect.Parameter.empty
