"""Every change of a tenant or a key raises the tenant's snapshot version, and publishes it after the commit."""

import pytest
from django.db import connection, transaction

from tenants import service
from tenants.models import ApiKey, Tenant
from tenants.scopes import ALL
from tenants.versions import raise_versions, set_publisher


def versions() -> dict:
    return dict(Tenant.objects.values_list("id", "snapshot_version"))


CHANGES = {
    "issue": lambda member: service.issue_key(member.tenant, "another", ALL),
    "rename key": lambda member: service.rename_key(member.key, "renamed"),
    "revoke": lambda member: service.revoke_key(member.key),
    "delete key": lambda member: service.delete_key(member.key),
    "suspend": lambda member: service.suspend_tenant(member.tenant),
    "resume": lambda member: service.resume_tenant(member.tenant),
    "limit key": lambda member: service.limit_key(member.key, rate=1, burst=2),
    "limit work": lambda member: service.limit_work(member.tenant, max_open_jobs=5, max_running=None),
    "limit tenant": lambda member: service.limit_tenant(member.tenant, rate=None, burst=None),
    "update": lambda member: service.update_tenant(member.tenant, name="New", slug="new"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_raises_this_tenant_only(world, published, django_capture_on_commit_callbacks, change):
    before = versions()
    with django_capture_on_commit_callbacks(execute=True):
        change(world.owner)
    after = versions()
    owner = world.owner.tenant.id
    assert after == {**before, owner: before[owner] + 1}
    assert published == [{owner: after[owner]}]


def test_a_new_tenant_is_published(db, published, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        tenant = service.create_tenant("New")
    assert published == [{tenant.id: tenant.snapshot_version}]


def test_revoking_again_changes_nothing(world, published, django_capture_on_commit_callbacks):
    first = service.revoke_key(world.owner.key).revoked_at
    before = versions()
    with django_capture_on_commit_callbacks(execute=True):
        again = service.revoke_key(ApiKey.objects.get(id=world.owner.key.id))
    assert again.revoked_at == first
    assert (versions(), published) == (before, [])


def test_none_raises_every_tenant(world, published, django_capture_on_commit_callbacks):
    before = versions()
    with django_capture_on_commit_callbacks(execute=True):
        raise_versions()
    assert versions() == {tenant: version + 1 for tenant, version in before.items()}
    assert published == [versions()]


def test_no_tenants_raises_none(world):
    before = versions()
    raise_versions([])
    assert versions() == before


@pytest.mark.django_db(transaction=True)
def test_it_is_published_after_the_commit_and_never_when_rolled_back(published):
    tenant = service.create_tenant("Owner")
    published.clear()
    with transaction.atomic():
        service.suspend_tenant(tenant)
        assert published == []
    assert published == [{tenant.id: tenant.snapshot_version}]
    with transaction.atomic():
        service.resume_tenant(tenant)
        transaction.set_rollback(True)
    assert len(published) == 1
    assert versions() == published[0]
    assert Tenant.objects.get().status == Tenant.Status.SUSPENDED


@pytest.mark.django_db(transaction=True)
def test_a_failing_publisher_is_logged_and_the_change_stands(published, caplog):
    def fail(versions: object) -> None:
        raise ConnectionError("no Redis")

    assert not connection.in_atomic_block
    set_publisher(fail)
    tenant = service.create_tenant("Owner")
    assert versions() == {tenant.id: tenant.snapshot_version}
    assert "no Redis" in caplog.text
