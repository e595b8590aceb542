"""What a tenant may have waiting and running is set by service, command and admin, and bounded there."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from tenants import service
from tenants.errors import InvalidRequest
from tenants.limits import MAX_WORK
from tenants.models import Tenant

pytestmark = pytest.mark.django_db


def columns(**which: str) -> tuple[int | None, int | None]:
    return Tenant.objects.values_list("max_open_jobs", "max_running").get(**which)


def test_they_are_set_and_taken_back():
    tenant = service.create_tenant("Acme", max_open_jobs=20)
    assert columns() == (20, None)
    before = tenant.snapshot_version
    service.limit_work(tenant, max_open_jobs=None, max_running=0)
    assert columns() == (None, 0)
    assert tenant.snapshot_version == before + 1


@pytest.mark.parametrize("name", ["max_open_jobs", "max_running"])
@pytest.mark.parametrize("value", [-1, MAX_WORK + 1])
def test_what_cannot_be_is_refused_by_name(name, value):
    limits = {"max_open_jobs": None, "max_running": None, name: value}
    with pytest.raises(InvalidRequest) as refused:
        service.limit_work(service.create_tenant("Acme"), **limits)
    assert [(field.field, field.code) for field in refused.value.fields] == [(name, "out_of_range")]
    with pytest.raises(InvalidRequest):
        service.create_tenant("Other", **limits)
    assert not Tenant.objects.filter(name="Other").exists()


def test_the_command_takes_both():
    call_command("create_tenant", "Acme", "--open-jobs", "500", "--running", "4", stdout=StringIO(), stderr=StringIO())
    assert columns(slug="acme") == (500, 4)
    with pytest.raises(CommandError, match="1000000"):
        call_command("create_tenant", "Other", "--running=-1", stdout=StringIO(), stderr=StringIO())


def test_the_admin_sets_changes_and_bounds_them(admin_client):
    admin_client.post(reverse("admin:tenants_tenant_add"), {"name": "Acme", "slug": "", "max_open_jobs": "7"})
    tenant = Tenant.objects.get(slug="acme")
    page = reverse("admin:tenants_tenant_change", args=[tenant.id])
    form = {"name": "Acme", "slug": "acme"}
    admin_client.post(page, {**form, "max_running": "3"})
    assert columns(slug="acme") == (None, 3)
    refused = admin_client.post(page, {**form, "max_running": str(MAX_WORK + 1)})
    assert refused.context["errors"]
    assert columns(slug="acme") == (None, 3)
