"""Operators see batches with their progress and their problems, and cancel them."""

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from synth.models import Batch, CurationAction
from tests.synth.admin.pages import list_of, page_of, rows_of, words
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(world: World) -> Batch:
    row = Batch.objects.create(
        kind="batch", tenant=world.owner.tenant, state="running", matched=9, refused=1, done=2, cached=1, failed=1
    )
    row.lines.create(number=3, tenant=world.owner.tenant, outcome="refused", error_code="nothing_to_say")
    row.lines.create(number=4, tenant=world.owner.tenant, outcome="failed", error_code="engine_error")
    for number in (5, 6):
        row.lines.create(number=number, tenant=world.owner.tenant, payload={"custom_id": "a"})
    return row


def test_batches_have_a_screen_and_are_not_among_the_actions(admin_client, world: World, batch: Batch):
    purge = CurationAction.objects.create(kind="purge", tenant=world.owner.tenant, state="succeeded")
    assert rows_of(admin_client, "batch") == [batch]
    assert rows_of(admin_client, "batch", q=batch.public_id) == [batch]
    assert rows_of(admin_client, "curationaction") == [purge]
    assert "3 / 9" in admin_client.get(list_of("batch")).content.decode()
    page = words(admin_client.get(page_of(batch)).content.decode())
    assert "3: nothing_to_say" in page
    assert "4: engine_error" in page
    assert "total: 9" in page


def test_one_can_be_canceled(admin_client, batch: Batch):
    address = reverse("admin:synth_batch_cancel_this", args=[batch.id])
    assert address in admin_client.get(page_of(batch)).content.decode()
    assert admin_client.post(address, {"_form_submitted": "on"}).status_code == 200
    batch.refresh_from_db()
    assert (batch.state, batch.lines.filter(outcome="canceled").count()) == ("canceled", 2)
    assert address not in admin_client.get(page_of(batch)).content.decode()


def test_who_may_only_look_cancels_nothing(client, batch: Batch):
    user = User.objects.create_user("viewer", password="viewer-password", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_batch"))
    client.force_login(user)
    address = reverse("admin:synth_batch_cancel_this", args=[batch.id])
    assert address not in client.get(page_of(batch)).content.decode()
    client.post(address, {"_form_submitted": "on"})
    batch.refresh_from_db()
    assert batch.state == "running"
