"""Making and changing tenants: slugs, states, what a key row keeps."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tenants import service
from tenants.errors import InvalidRequest
from tenants.models import ApiKey, Tenant
from tenants.scopes import ALL

pytestmark = pytest.mark.django_db


def test_a_slug_comes_from_the_name():
    assert service.create_tenant("Acme Speech, Inc.").slug == "acme-speech-inc"


def test_a_taken_slug_gets_digits():
    first, second = service.create_tenant("Acme"), service.create_tenant("Acme")
    assert first.slug == "acme"
    assert second.slug.startswith("acme-")


def test_a_name_without_latin_letters_still_gets_a_slug():
    first, second = service.create_tenant("示例公司"), service.create_tenant("示例公司")
    assert first.slug.startswith("tenant-")
    assert first.slug != second.slug


def test_a_very_long_name_fits():
    tenant = service.create_tenant("a" * 200)
    tenant.full_clean()
    assert len(service.create_tenant("a" * 200).slug) <= 80


@pytest.mark.parametrize(("slug", "code"), [("acme", "slug_taken"), ("a b", "bad_slug"), ("示例", "bad_slug")])
def test_a_slug_that_cannot_be_is_refused(slug, code):
    service.create_tenant("Acme", "acme")
    with pytest.raises(InvalidRequest) as caught:
        service.create_tenant("Other", slug)
    assert caught.value.fields[0].code == code
    assert slug in str(caught.value)


def test_suspend_and_resume():
    tenant = service.create_tenant("Acme")
    assert tenant.is_active
    service.suspend_tenant(tenant)
    assert not Tenant.objects.get().is_active
    service.resume_tenant(tenant)
    assert Tenant.objects.get().is_active


def test_an_expiry_in_the_past_is_refused():
    with pytest.raises(InvalidRequest):
        service.issue_key(service.create_tenant("Acme"), "late", ALL, expires_at=timezone.now() - timedelta(seconds=1))
    assert not ApiKey.objects.exists()


def test_the_row_keeps_nothing_of_the_secret():
    key, token = service.issue_key(service.create_tenant("Acme"), "key", ALL)
    secret = token.rsplit("_", 1)[1]
    kept = " ".join(str(value) for value in ApiKey.objects.values_list().get())
    assert key.lookup in kept
    assert secret not in kept
    assert secret[:-6] not in kept
    assert secret not in f"{key!s} {key!r}"


def test_a_key_tells_its_state():
    now = timezone.now()
    key, _ = service.issue_key(service.create_tenant("Acme"), "key", ALL, expires_at=now + timedelta(hours=1))
    assert key.state_at(now) == "active"
    assert key.state_at(now + timedelta(hours=1)) == "expired"
    assert service.revoke_key(key).state_at(now) == "revoked"
