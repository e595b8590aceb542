"""Quotas of tenants and keys are set in the admin: they act on the next request, and the pages say what is used."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from synth import service
from tests.api.caller import Caller, problem
from tests.cards import publish
from tests.finished import finish
from tests.synth.admin.pages import words
from tests.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
TEN = "Ten chars."


@pytest.fixture
def owner(world: World) -> Caller:
    publish()
    return Caller(world.owner)


def save(browser: Any, address: str, form: dict[str, Any]) -> Any:
    answer = browser.post(address, form)
    assert answer.status_code == 302, words(answer.content.decode())
    return answer


def test_a_tenants_acts_on_the_next_request(admin_client, owner: Caller):
    tenant = owner.member.tenant
    page = reverse("admin:tenants_tenant_change", args=[tenant.pk])
    form = {"name": tenant.name, "slug": tenant.slug, "audit_text": "hash"}
    assert owner.speak(text=TEN).status_code == 202
    save(admin_client, page, {**form, "characters_per_day": "15"})
    body = problem(owner.speak(text=TEN))
    assert (body["code"], body["scope"], body["used"], body["limit"]) == ("quota_exceeded", "tenant", 10, 15)
    save(admin_client, page, form)
    assert owner.speak(text=TEN).status_code == 202


def test_a_keys_acts_on_the_next_request(admin_client, owner: Caller):
    key = owner.member.key
    page = reverse("admin:tenants_apikey_change", args=[key.pk])
    save(admin_client, page, {"name": key.name, "characters_per_month": "5"})
    body = problem(owner.speak(text=TEN))
    assert (body["scope"], body["quota"], body["limit"]) == ("key", "characters_per_month", 5)


def test_the_page_of_a_tenant_says_what_is_used(admin_client, owner: Caller):
    tenant = owner.member.tenant
    form = {"name": tenant.name, "slug": tenant.slug, "audit_text": "hash", "characters_per_day": "1234"}
    page = reverse("admin:tenants_tenant_change", args=[tenant.pk])
    save(admin_client, page, form)
    finish(owner.member, {"text": TEN})
    assert [owner.speak(text=TEN).status_code for _ in range(2)] == [200, 200]
    service.drain_usage()
    assert "Characters a day: 30 / 1,234 (2%)" in words(admin_client.get(page).content.decode())


@pytest.mark.parametrize("wrong", ["-1", "many", str(10**16)])
def test_what_is_no_quota_is_an_error_of_the_form(admin_client, owner: Caller, wrong: str):
    tenant = owner.member.tenant
    page = reverse("admin:tenants_tenant_change", args=[tenant.pk])
    answer = admin_client.post(page, {"name": tenant.name, "slug": tenant.slug, "characters_per_day": wrong})
    assert answer.context["adminform"].form.errors["characters_per_day"]
    tenant.refresh_from_db()
    assert tenant.characters_per_day is None
