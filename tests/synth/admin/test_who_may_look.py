"""Who may see the speech screens, that nobody may edit there, and what the sidebar offers whom."""

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from synth.models import EngineCardRow, Entry, Job
from synth.models.states import State
from tests.synth.admin.pages import LISTS, list_of, page_of
from tests.synth.admin.rows import CHINESE, make_entry, make_work, publish_card
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def staff(db) -> User:
    return User.objects.create_user("staff", password="staff-password", is_staff=True)


@pytest.fixture
def rows(world: World) -> list[object]:
    publish_card()
    work = make_work(world.owner.tenant, CHINESE, state=State.QUEUED)
    return [
        make_entry(world.owner.tenant, CHINESE),
        work.job,
        work.rendering,
        *work.syntheses,
        EngineCardRow.objects.get(),
    ]


def test_staff_without_permission_see_nothing(client, staff, rows):
    client.force_login(staff)
    for address in [*map(list_of, LISTS), *map(page_of, rows)]:
        assert client.get(address).status_code == 403, address


def test_strangers_are_sent_to_the_login(client, rows):
    for address in [*map(list_of, LISTS), *map(page_of, rows)]:
        answer = client.get(address)
        assert (answer.status_code, reverse("admin:login") in answer["Location"]) == (302, True)


def test_not_even_a_superuser_adds_changes_or_deletes(admin_client, rows):
    for row in rows:
        name = f"admin:synth_{row._meta.model_name}"
        assert admin_client.get(reverse(f"{name}_add")).status_code == 403
        assert admin_client.post(page_of(row), {"state": "succeeded", "text": "x"}).status_code == 403
        assert admin_client.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    data = {
        "action": "delete_selected",
        "_selected_action": [str(row.pk) for row in Entry.objects.all()],
        "post": "yes",
    }
    admin_client.post(list_of("entry"), data)
    assert Entry.objects.count() == 2
    assert Job.objects.get().state == State.QUEUED


def test_the_sidebar_offers_what_its_reader_may_see(client, admin_client, staff):
    index = reverse("admin:index")
    everything = admin_client.get(index).content.decode()
    assert all(list_of(model) in everything for model in LISTS)
    assert reverse("admin:tenants_apikey_changelist") in everything
    staff.user_permissions.add(Permission.objects.get(codename="view_job"))
    client.logout()
    client.force_login(staff)
    page = client.get(index).content.decode()
    assert list_of("job") in page
    assert list_of("entry") not in page
    assert reverse("admin:tenants_tenant_changelist") not in page
