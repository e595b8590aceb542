"""The admin's screens of tenants and keys, as a superuser's browser uses them."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from tenants import service
from tenants.authentication import find_record, identify
from tenants.models import ApiKey, Tenant
from tenants.scopes import SCOPES, SPEECH_READ

KEYS = "admin:tenants_apikey"
TENANTS = "admin:tenants_tenant"


@pytest.fixture
def browser(admin_client, world, published):
    return admin_client


def issue(browser, world, **changes):
    form = {
        "tenant": str(world.owner.tenant.id),
        "name": "from the admin",
        "kind": "live",
        "scopes": [SPEECH_READ],
        "expires_at_0": "",
        "expires_at_1": "",
        **changes,
    }
    return browser.post(reverse(f"{KEYS}_add"), form)


def version(member) -> int:
    return Tenant.objects.get(id=member.tenant.id).snapshot_version


def newest_key() -> ApiKey:
    return ApiKey.objects.get(name="from the admin")


def test_an_issued_token_works_and_is_shown_once(browser, world):
    before = version(world.owner)
    answer = issue(browser, world)
    assert answer.status_code == 200
    token = answer.context["token"]
    assert answer.content.decode().count(token) == 1
    assert "no-store" in answer["Cache-Control"]
    caller = identify(find_record(token), token, now=timezone.now())
    assert (caller.tenant, caller.scopes) == (world.owner.ref, {SPEECH_READ})
    assert version(world.owner) == before + 1

    secret = token.rsplit("_", 1)[1]
    key = newest_key()
    pages = [reverse(f"{KEYS}_changelist"), reverse(f"{KEYS}_change", args=[key.id]), reverse("admin:index")]
    pages.append(reverse(f"{KEYS}_history", args=[key.id]))
    for page in pages:
        later = browser.get(page)
        assert later.status_code == 200
        assert secret not in later.content.decode()
        assert key.digest not in later.content.decode()


def test_an_issued_token_is_left_in_no_session_cookie_or_log(browser, world):
    answer = issue(browser, world)
    secret = answer.context["token"].rsplit("_", 1)[1]
    assert all(secret not in str(cookie) for cookie in browser.cookies.values())
    assert all(secret not in str(session.get_decoded()) for session in Session.objects.all())
    entries = LogEntry.objects.filter(object_id=str(newest_key().id))
    assert entries.exists()
    assert all(secret not in str(entry.__dict__) for entry in entries)


def test_a_key_shows_its_state(browser, world):
    page = reverse(f"{KEYS}_change", args=[world.owner.key.id])
    assert ">active<" in "".join(browser.get(page).content.decode().split())
    service.revoke_key(world.owner.key)
    assert ">revoked<" in "".join(browser.get(page).content.decode().split())


def test_the_issue_form_offers_the_scopes(browser, world):
    page = browser.get(reverse(f"{KEYS}_add")).content.decode()
    for scope in SCOPES:
        assert f'value="{scope}"' in page
    assert "digest" not in page
    assert "pepper" not in page


@pytest.mark.parametrize(
    "changes", [{"scopes": []}, {"scopes": ["speech:sing"]}, {"tenant": ""}, {"name": ""}, {"kind": "other"}]
)
def test_a_form_that_cannot_be_issues_nothing(browser, world, changes):
    before = ApiKey.objects.count()
    answer = issue(browser, world, **changes)
    assert answer.status_code == 200
    assert answer.context["errors"]
    assert ApiKey.objects.count() == before


def test_an_expiry_is_kept_and_one_in_the_past_refused(browser, world):
    past, future = timezone.now() - timedelta(days=2), timezone.now() + timedelta(days=2)
    answer = issue(browser, world, expires_at_0=past.strftime("%Y-%m-%d"), expires_at_1="00:00:00")
    assert "The expiry lies in the past." in answer.content.decode()
    issue(browser, world, expires_at_0=future.strftime("%Y-%m-%d"), expires_at_1="00:00:00")
    assert newest_key().expires_at.date() == future.date()


def test_a_key_can_be_renamed_and_nothing_else(browser, world):
    key = world.owner.key
    before = version(world.owner)
    answer = browser.post(
        reverse(f"{KEYS}_change", args=[key.id]),
        {"name": "renamed", "scopes": [SPEECH_READ], "tenant": str(world.stranger.tenant.id), "digest": "0" * 64},
    )
    assert answer.status_code == 302
    after = ApiKey.objects.get(id=key.id)
    assert after.name == "renamed"
    assert (after.scopes, after.tenant_id, after.digest) == (key.scopes, key.tenant_id, key.digest)
    assert version(world.owner) == before + 1


def test_a_key_is_revoked_from_the_list(browser, world):
    before = version(world.owner)
    data = {"action": "revoke", "_selected_action": [str(world.owner.key.id)]}
    assert browser.post(reverse(f"{KEYS}_changelist"), data).status_code == 302
    assert ApiKey.objects.get(id=world.owner.key.id).revoked_at is not None
    assert ApiKey.objects.get(id=world.stranger.key.id).revoked_at is None
    assert version(world.owner) == before + 1


def test_a_key_is_revoked_from_its_page(browser, world):
    page = reverse(f"{KEYS}_change", args=[world.owner.key.id])
    button = "tenants_apikey_revoke_this"
    assert f'name="{button}"' in browser.get(page).content.decode()
    assert browser.post(page, {"name": world.owner.key.name, button: "1"}).status_code == 302
    assert ApiKey.objects.get(id=world.owner.key.id).revoked_at is not None


def test_deleting_keys_raises_the_version(browser, world):
    before = version(world.owner), version(world.stranger)
    browser.post(reverse(f"{KEYS}_delete", args=[world.owner.key.id]), {"post": "yes"})
    data = {"action": "delete_selected", "_selected_action": [str(world.stranger.key.id)], "post": "yes"}
    browser.post(reverse(f"{KEYS}_changelist"), data)
    assert list(ApiKey.objects.values_list("tenant__name", flat=True)) == ["Suspended"]
    assert (version(world.owner), version(world.stranger)) == (before[0] + 1, before[1] + 1)


def test_keys_are_found_by_their_lookup_part(browser, world):
    page = browser.get(reverse(f"{KEYS}_changelist"), {"q": world.owner.key.lookup}).content.decode()
    assert world.owner.key.hint in page
    assert world.stranger.key.hint not in page


def test_tenants_are_listed_with_status_and_unrevoked_keys(browser, world):
    answer = browser.get(reverse(f"{TENANTS}_changelist"))
    rows = {tenant.name: (tenant.status, tenant.keys_count) for tenant in answer.context["cl"].result_list}
    assert rows == {"Owner": ("active", 1), "Stranger": ("active", 1), "Suspended": ("suspended", 1)}


def test_a_tenant_is_made_and_changed(browser, world):
    browser.post(reverse(f"{TENANTS}_add"), {"name": "Acme Inc", "slug": ""})
    tenant = Tenant.objects.get(slug="acme-inc")
    page = reverse(f"{TENANTS}_change", args=[tenant.id])
    assert browser.get(page).status_code == 200
    browser.post(page, {"name": "Acme", "slug": "acme", "status": "suspended"})
    after = Tenant.objects.get(id=tenant.id)
    assert (after.name, after.slug, after.status) == ("Acme", "acme", "active")
    assert after.snapshot_version == tenant.snapshot_version + 1
    assert browser.post(page, {"name": "Acme", "slug": ""}).status_code == 200


def test_saving_without_a_change_raises_nothing(browser, world):
    before = version(world.owner)
    tenant = world.owner.tenant
    browser.post(reverse(f"{TENANTS}_change", args=[tenant.id]), {"name": tenant.name, "slug": tenant.slug})
    assert version(world.owner) == before


def test_a_taken_slug_is_an_error_of_the_form(browser, world):
    answer = browser.post(reverse(f"{TENANTS}_add"), {"name": "Other", "slug": world.owner.tenant.slug})
    assert answer.status_code == 200
    assert answer.context["errors"]


def test_tenants_are_suspended_and_resumed(browser, world):
    chosen = [str(world.owner.tenant.id)]
    before = version(world.owner)
    browser.post(reverse(f"{TENANTS}_changelist"), {"action": "suspend", "_selected_action": chosen})
    assert Tenant.objects.get(id=chosen[0]).status == "suspended"
    browser.post(reverse(f"{TENANTS}_changelist"), {"action": "resume", "_selected_action": chosen})
    assert Tenant.objects.get(id=chosen[0]).status == "active"
    assert version(world.owner) == before + 2


def test_a_tenant_cannot_be_deleted_here(browser, world):
    answer = browser.post(reverse(f"{TENANTS}_delete", args=[world.owner.tenant.id]), {"post": "yes"})
    assert answer.status_code == 403
    assert Tenant.objects.filter(id=world.owner.tenant.id).exists()


def test_staff_without_rights_see_nothing_and_change_nothing(client, django_user_model, world):
    client.force_login(django_user_model.objects.create_user("staff", password="x", is_staff=True))
    assert issue(client, world).status_code == 403
    assert client.get(reverse(f"{KEYS}_changelist")).status_code == 403
    data = {"action": "revoke", "_selected_action": [str(world.owner.key.id)]}
    assert client.post(reverse(f"{KEYS}_changelist"), data).status_code == 403
    assert ApiKey.objects.get(id=world.owner.key.id).revoked_at is None


def test_encryption_is_set_once_there_are_keys_to_wrap_with(browser, world, settings):
    page = reverse(f"{TENANTS}_change", args=[world.owner.tenant.id])
    said = {"name": "Owner", "slug": "owner", "encryption": "platform"}
    settings.REFRAIN_ENCRYPTION_KEYS = {}
    assert "REFRAIN_ENCRYPTION_KEYS" in browser.post(page, said).content.decode()
    settings.REFRAIN_ENCRYPTION_KEYS = {"first": b"1" * 32}
    before = Tenant.objects.get(id=world.owner.tenant.id)
    assert browser.post(page, said).status_code == 302
    after = Tenant.objects.get(id=world.owner.tenant.id)
    assert (before.encryption, after.encryption) == ("none", "platform")
    assert after.snapshot_version > before.snapshot_version
    assert browser.post(page, {"name": "Owner", "slug": "owner"}).status_code == 302
    assert Tenant.objects.get(id=world.owner.tenant.id).encryption == "platform"


def test_a_new_tenant_has_the_encryption_and_the_audit_that_its_form_says(browser, world, settings):
    settings.REFRAIN_ENCRYPTION_KEYS = {"first": b"1" * 32}
    said = {"name": "Acme", "slug": "acme", "encryption": "platform", "audit_text": "none", "audit_days": "30"}
    assert browser.post(reverse(f"{TENANTS}_add"), said).status_code == 302
    made = Tenant.objects.get(slug="acme")
    assert (made.encryption, made.audit_text, made.audit_days) == ("platform", "none", 30)
