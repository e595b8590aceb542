"""What does not fit into a quota of bytes is refused, and nothing is counted of it; what is purged makes room."""

from uuid import UUID

import pytest

from synth.models import Entry, StorageUse
from synth.service import storage_use
from synth.service.storage_use import reserve
from tenants.models.usage_day import NO_KEY
from tenants.quotas import NO_QUOTAS, Quotas
from tests.finished import finish
from tests.world import World


def room(world: World, size: int, *, tenant: int = 0, key: int = 0) -> str | None:
    quotas = Quotas(max_storage=tenant), Quotas(max_storage=key)
    state = reserve(world.owner.tenant.id, world.owner.key.id, size, quotas=quotas)
    return state and state.scope


def counted(key_id: UUID = NO_KEY) -> int:
    return StorageUse.objects.get(api_key_id=key_id).size


def test_without_a_quota_nothing_is_counted(world: World) -> None:
    assert reserve(world.owner.tenant.id, None, 10, quotas=(NO_QUOTAS, NO_QUOTAS)) is None
    assert not StorageUse.objects.exists()


def test_up_to_the_byte_and_no_further(world: World) -> None:
    there = finish(world.owner, {"text": "Kept."}).entry.size
    assert room(world, 10, tenant=there + 10) is None
    assert room(world, 1, tenant=there + 10) == "tenant"
    assert counted() == there + 10


def test_what_its_key_refuses_is_not_counted_of_the_tenant(world: World) -> None:
    assert room(world, 10, tenant=100, key=15) is None
    assert room(world, 10, tenant=100, key=15) == "key"
    assert (counted(), counted(world.owner.key.id)) == (10, 10)


def test_what_is_gone_makes_room(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = finish(world.owner, {"text": "Kept."}).entry
    assert room(world, 10, tenant=entry.size) == "tenant"
    Entry.objects.filter(id=entry.id).delete()
    monkeypatch.setattr(storage_use, "MEASURED_AGAIN", storage_use.MEASURED_AGAIN * 0)
    assert room(world, 10, tenant=entry.size) is None
