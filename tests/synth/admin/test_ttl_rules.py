"""The TTL rules' screen: every change goes through the service, and only who may change one can."""

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from synth.models import Policy
from tenants.models import Tenant
from tests.synth.admin.pages import list_of, page_of, words
from tests.synth.admin.rows import publish_card
from tests.world import World

pytestmark = pytest.mark.django_db
ADD = "admin:synth_policy_add"
EMPTY = {
    "tenant": "", "note": "", "priority": "100", "enabled": "on", "category": "", "engine": "", "voice": "",
    "min_characters": "", "max_characters": "", "max_age": "", "stale": "0", "hot_hits": "", "hot_window": "",
    "hot_factor": "", "hot_ceiling": "", "model_change": "serve_old",
}  # fmt: skip


def versions() -> dict[str, int]:
    return dict(Tenant.objects.order_by().values_list("slug", "snapshot_version"))


def raised(before: dict[str, int]) -> set[str]:
    return {slug for slug, version in versions().items() if version > before[slug]}


@pytest.fixture
def staff(db) -> User:
    return User.objects.create_user("staff", password="staff-password", is_staff=True)


def test_a_rule_is_added_changed_and_deleted(admin_client, world: World):
    before = versions()
    form = {**EMPTY, "tenant": str(world.owner.tenant.id), "note": "News are short-lived", "max_age": "3600"}
    assert admin_client.post(reverse(ADD), form).status_code == 302
    saved = Policy.objects.get()
    assert (saved.tenant, saved.max_age, saved.enabled) == (world.owner.tenant, 3600, True)
    assert raised(before) == {"owner"}

    before = versions()
    assert (
        admin_client.post(page_of(saved), {**form, "tenant": "", "never_cache": "on", "max_age": ""}).status_code == 302
    )
    saved.refresh_from_db()
    assert (saved.tenant, saved.never_cache, saved.max_age) == (None, True, None)
    assert raised(before) == {"owner", "stranger", "suspended"}

    before = versions()
    admin_client.post(reverse("admin:synth_policy_delete", args=[saved.pk]), {"post": "yes"})
    assert not Policy.objects.exists()
    assert raised(before) == {"owner", "stranger", "suspended"}


def test_rules_are_switched_and_deleted_together(admin_client, world: World):
    rules = [Policy.objects.create(tenant=member.tenant) for member in (world.owner, world.stranger)]
    chosen = {"_selected_action": [str(rule.pk) for rule in rules]}
    for action, on in (("disable", False), ("enable", True)):
        before = versions()
        admin_client.post(list_of("policy"), {"action": action, **chosen})
        assert set(Policy.objects.values_list("enabled", flat=True)) == {on}
        assert raised(before) == {"owner", "stranger"}
    before = versions()
    admin_client.post(list_of("policy"), {"action": "delete_selected", "post": "yes", **chosen})
    assert not Policy.objects.exists()
    assert raised(before) == {"owner", "stranger"}


def test_what_makes_no_sense_is_told_and_not_saved(admin_client, world: World):
    before = versions()
    answer = admin_client.post(reverse(ADD), {**EMPTY, "pinned": "on", "max_age": "60", "hot_hits": "3"})
    assert answer.status_code == 200
    assert set(answer.context["adminform"].form.errors) >= {"max_age"}
    assert not Policy.objects.exists()
    assert not raised(before)


def test_the_list_says_what_a_rule_matches_and_how_long_it_keeps(admin_client, world: World):
    Policy.objects.create(
        note="Menus", tenant=world.owner.tenant, category="menu", voice="zf_one", min_characters=5, max_age=90_000,
        stale=60, hot_hits=3, hot_window=3600, hot_factor=2.5, hot_ceiling=864_000,
    )  # fmt: skip
    Policy.objects.create(note="Nothing of these", never_cache=True, priority=7)
    page = words(admin_client.get(list_of("policy")).content.decode())
    assert "category menu, voice zf_one, 5 characters or more" in page
    assert "1 d 1 h, then served old for 1 min, 2.5 times as long, up to 10 d, from 3 hits in 1 h" in page
    assert "all tenants" in page
    assert "any request" in page
    assert "never cached" in page


def test_the_form_suggests_engines_and_voices(admin_client, world: World):
    publish_card()
    page = admin_client.get(reverse(ADD)).content.decode()
    assert '<option value="kokoro">' in page
    assert '<option value="zf_two">' in page


@pytest.mark.parametrize("verb", ["view", "add", "change", "delete"])
def test_each_right_opens_its_own_door_only(client, staff, world: World, verb):
    rule = Policy.objects.create(note="kept")
    staff.user_permissions.add(Permission.objects.get(codename=f"{verb}_policy"))
    client.force_login(staff)
    may = {
        "view": client.get(list_of("policy")).status_code == 200,
        "add": client.post(reverse(ADD), EMPTY).status_code == 302,
        "change": client.post(page_of(rule), {**EMPTY, "note": "changed"}).status_code == 302,
        "delete": client.post(reverse("admin:synth_policy_delete", args=[rule.pk]), {"post": "yes"}).status_code == 302,
    }
    assert may == {"view": verb in {"view", "change"}} | {name: name == verb for name in ("add", "change", "delete")}
    assert Policy.objects.filter(note="kept").exists() == (verb not in {"change", "delete"})


def test_who_may_only_look_switches_nothing(client, staff, world: World):
    rule = Policy.objects.create()
    staff.user_permissions.add(Permission.objects.get(codename="view_policy"))
    client.force_login(staff)
    client.post(list_of("policy"), {"action": "disable", "_selected_action": [str(rule.pk)]})
    rule.refresh_from_db()
    assert rule.enabled
