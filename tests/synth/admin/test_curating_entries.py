"""Operators purge, refresh and pin entries: the chosen ones, or by a filter over tenants, after seeing the count."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from synth.models import CurationAction, Entry
from tests.synth.admin.pages import list_of, page_of, rows_of, words
from tests.synth.admin.rows import CHINESE, ENGLISH, make_entry
from tests.world import World

pytestmark = pytest.mark.django_db
ADDRESS = "admin:synth_entry_curate"


def choose(browser, kind: str, *entries: Entry):
    return browser.post(list_of("entry"), {"action": kind, "_selected_action": [str(entry.id) for entry in entries]})


def asked(page) -> dict[str, str]:
    """The hidden fields of the page that asks."""
    form = page.context["form"]
    return {name: form.data.get(name, "") for name in form.fields if name != "made_before"}


def carry_out(browser, page):
    data = {**asked(page), "expected": str(page.context["count"])}
    return browser.post(reverse(ADDRESS), data, follow=True)


def test_the_chosen_ones_are_purged_after_the_question(admin_client, world: World):
    mine, other = make_entry(world.owner.tenant, CHINESE), make_entry(world.stranger.tenant, ENGLISH)
    kept = make_entry(world.owner.tenant, ENGLISH)
    page = choose(admin_client, "purge", mine, other)
    assert page.context["count"] == 2
    assert "purge: 2 entries" in words(page.content.decode())
    assert Entry.objects.count() == 3  # asking changes nothing
    done = carry_out(admin_client, page)
    assert list(Entry.objects.all()) == [kept]
    action = CurationAction.objects.get()
    assert (action.state, action.done, action.user_name) == ("succeeded", 2, "admin")
    assert done.redirect_chain[-1][0] == page_of(action)


@pytest.mark.parametrize("tenant", ["owner", ""])
def test_by_filter_of_one_tenant_or_of_all(admin_client, world: World, tenant: str):
    for member in (world.owner, world.stranger):
        make_entry(member.tenant, CHINESE)
        make_entry(member.tenant, ENGLISH)
    assert admin_client.get(reverse(ADDRESS)).status_code == 200
    asks = {"kind": "pin", "text_contains": "morning", "tenant": str(world.owner.tenant.id) if tenant else ""}
    page = admin_client.post(reverse(ADDRESS), asks)
    expected = 1 if tenant else 2
    assert page.context["count"] == expected
    carry_out(admin_client, page)
    assert Entry.objects.filter(pinned=True).count() == expected
    assert all(entry.text == ENGLISH for entry in Entry.objects.filter(pinned=True))


def test_when_there_are_more_by_now_it_asks_again(admin_client, world: World):
    make_entry(world.owner.tenant, ENGLISH)
    page = admin_client.post(reverse(ADDRESS), {"kind": "purge", "text_contains": "morning"})
    make_entry(world.stranger.tenant, ENGLISH)
    again = carry_out(admin_client, page)
    assert again.context["count"] == 2
    assert Entry.objects.count() == 2


@pytest.mark.parametrize(
    "asks", [{"kind": "purge"}, {"kind": "warm", "voice": "x"}, {"kind": "purge", "ids": "no id"}, {"voice": "x"}]
)
def test_what_names_nothing_is_refused(admin_client, world: World, asks: dict):
    page = admin_client.post(reverse(ADDRESS), {**asks, "expected": "5"})
    assert page.status_code == 200
    assert page.context["form"].errors
    assert not CurationAction.objects.exists()


def test_a_refresh_is_for_renditions_and_runs_behind(admin_client, world: World):
    sentence = make_entry(world.owner.tenant, CHINESE, kind=Entry.Kind.SEGMENT)
    page = choose(admin_client, "refresh", make_entry(world.owner.tenant, CHINESE, format="wav"), sentence)
    assert page.context["count"] == 1
    carry_out(admin_client, page)
    assert CurationAction.objects.get().state == "queued"


@pytest.fixture
def viewer(client, db):
    user = User.objects.create_user("viewer", password="viewer-password", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_entry"))
    client.force_login(user)
    return user


def test_who_may_only_look_changes_nothing(client, viewer, world: World):
    entry = make_entry(world.owner.tenant, ENGLISH)
    choose(client, "purge", entry)
    assert client.get(reverse(ADDRESS)).status_code == 403
    answer = client.post(reverse(ADDRESS), {"kind": "purge", "ids": entry.id.hex, "expected": "1"})
    assert answer.status_code == 403
    assert reverse(ADDRESS) not in client.get(list_of("entry")).content.decode()
    assert Entry.objects.count() == 1


def test_who_may_change_may_pin_but_not_purge(client, viewer, world: World):
    viewer.user_permissions.add(Permission.objects.get(codename="change_entry"))
    entry = make_entry(world.owner.tenant, ENGLISH)
    assert choose(client, "pin", entry).context["count"] == 1
    answer = client.post(reverse(ADDRESS), {"kind": "purge", "ids": entry.id.hex, "expected": "1"})
    assert answer.status_code == 403
    assert Entry.objects.count() == 1


def test_actions_are_listed_with_their_progress_and_stopped(admin_client, world: World):
    row = CurationAction.objects.create(
        kind="warm", tenant=world.owner.tenant, state="running", matched=9, done=2, cached=1, failed=1
    )
    row.lines.create(number=4, tenant=world.owner.tenant, outcome="failed", error_code="unknown_voice")
    row.lines.create(number=5, tenant=world.owner.tenant)
    assert rows_of(admin_client, "curationaction") == [row]
    assert "3 / 9" in admin_client.get(list_of("curationaction")).content.decode()
    assert "4: unknown_voice" in words(admin_client.get(page_of(row)).content.decode())
    address = reverse("admin:synth_curationaction_stop_this", args=[row.id])
    assert address in admin_client.get(page_of(row)).content.decode()
    assert admin_client.post(address, {"_form_submitted": "on"}).status_code == 200
    row.refresh_from_db()
    assert (row.state, row.lines.count()) == ("canceled", 1)
    assert address not in admin_client.get(page_of(row)).content.decode()
