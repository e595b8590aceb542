"""The roles of admin users: viewers look, operators steer speech, administrators give access; each made by migrate."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.urls import get_resolver, reverse

from tenants.models import Tenant, TenantBinding
from tenants.operators import ADMINISTRATOR, OPERATOR, ROLES, VIEWER
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def permissions_of(role: str) -> set[str]:
    return {
        f"{app}.{name}"
        for app, name in Group.objects.get(name=role).permissions.values_list("content_type__app_label", "codename")
    }


def somebody(role: str, name: str = "somebody") -> User:
    user = User.objects.create_user(name, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    return user


def everything(*apps: str) -> set[str]:
    found = Permission.objects.filter(content_type__app_label__in=apps)
    return {f"{app}.{name}" for app, name in found.values_list("content_type__app_label", "codename")}


def test_the_roles_are_made_from_the_models() -> None:
    viewing = {name for name in everything("synth", "tenants") if name.partition(".")[2].startswith("view_")}
    assert permissions_of(VIEWER) == viewing
    assert permissions_of(OPERATOR) == viewing | everything("synth")
    assert permissions_of(ADMINISTRATOR) == everything("synth", "tenants", "auth")


@pytest.mark.parametrize("role", ROLES)
def test_every_page_is_there_for_whom_it_is(client: Any, world: World, role: str) -> None:
    client.force_login(somebody(role))
    assert get_resolver().url_patterns
    for model in admin.site._registry:
        meta = model._meta
        wanted = 200 if meta.app_label != "auth" or role == ADMINISTRATOR else 403
        address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
        assert client.get(address).status_code == wanted, (role, address)
    page = reverse("admin:tenants_tenant_change", args=[world.owner.tenant.pk])
    assert client.get(page).status_code == 200


def test_a_viewer_changes_nothing_and_an_operator_no_tenant(client: Any, world: World) -> None:
    rule = {"note": "new", "priority": 1, "max_age": 60, "enabled": "on", "model_change": "make_new"}
    page = reverse("admin:tenants_tenant_change", args=[world.owner.tenant.pk])
    keys = reverse("admin:tenants_apikey_changelist")
    for role, may_rule in ((VIEWER, False), (OPERATOR, True)):
        client.force_login(somebody(role, role))
        answer = client.post(reverse("admin:synth_policy_add"), rule)
        assert (answer.status_code == 403) is not may_rule
        assert client.post(page, {"name": "new"}).status_code == 403
        client.post(keys, {"action": "revoke", "_selected_action": [str(world.owner.key.pk)]})
        world.owner.key.refresh_from_db()
        assert world.owner.key.revoked_at is None


def test_every_action_says_which_permission_it_takes() -> None:
    """Lists' own and the buttons of pages; Django and Unfold ask for it."""
    assert get_resolver().url_patterns
    found = 0
    for screen in admin.site._registry.values():
        buttons = ("actions", "actions_list", "actions_detail", "actions_row", "actions_submit_line")
        for name in (name for kind in buttons for name in screen._extract_action_names(getattr(screen, kind) or [])):
            found += 1
            assert getattr(getattr(screen, name), "allowed_permissions", ()), (screen, name)
    assert found > 20


def test_an_administrator_makes_no_superuser(client: Any, world: World) -> None:
    root = User.objects.create_superuser("root", password="a long password")
    me = somebody(ADMINISTRATOR)
    client.force_login(me)
    data = {"username": "somebody", "is_active": "on", "is_staff": "on", "is_superuser": "on", "groups": []}
    client.post(reverse("admin:auth_user_change", args=[me.pk]), data)
    me.refresh_from_db()
    assert not me.is_superuser
    assert client.post(reverse("admin:auth_user_change", args=[root.pk]), {"username": "x"}).status_code == 403
    password = {"password1": "another long one", "password2": "another long one", "usable_password": "true"}
    assert client.post(reverse("admin:auth_user_password_change", args=[root.pk]), password).status_code == 403
    assert client.post(reverse("admin:auth_user_delete", args=[root.pk]), {"post": "yes"}).status_code == 403
    role = Group.objects.get(name=VIEWER)
    assert client.post(reverse("admin:auth_group_change", args=[role.pk]), {"name": "x"}).status_code == 403
    root.refresh_from_db()
    assert root.check_password("a long password")


def test_an_administrator_binds_a_user_to_a_tenant(client: Any, world: World) -> None:
    client.force_login(somebody(ADMINISTRATOR))
    theirs = somebody(OPERATOR, "theirs")
    data = {
        "username": "theirs", "is_active": "on", "is_staff": "on", "groups": [str(theirs.groups.get().pk)],
        "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00",
        "binding-TOTAL_FORMS": "1", "binding-INITIAL_FORMS": "0",
        "binding-0-tenant": str(world.owner.tenant.pk), "binding-0-user": str(theirs.pk),
    }  # fmt: skip
    answer = client.post(reverse("admin:auth_user_change", args=[theirs.pk]), data)
    assert answer.status_code == 302, answer.context["errors"]
    assert TenantBinding.objects.get(user=theirs).tenant == world.owner.tenant
    assert Tenant.objects.count() == 3
