"""The screens of webhooks: those in trouble come first, secrets are shown once, and what is done there acts."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from synth import service
from synth.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.service.webhooks.payloads import opened_secrets
from tests.deliveries import URL, deliver, endpoint
from tests.synth.admin.pages import list_of, page_of, rows_of, words
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

SUBMITTED = {"_form_submitted": "on"}
SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+")


def action(row: WebhookEndpoint | WebhookDelivery, name: str) -> str:
    return reverse(f"admin:synth_{row._meta.model_name}_{name}", args=[row.pk])


def test_those_that_were_disabled_or_fail_come_first(admin_client, world: World):
    now = timezone.now()
    well = endpoint(world.owner, "https://well.example/")
    failing = endpoint(world.owner, "https://failing.example/", failing_since=now - timedelta(days=1))
    gone = endpoint(world.stranger, "https://gone.example/", status="disabled", disabled_reason="gone", disabled_at=now)
    by_hand = endpoint(world.owner, "https://by-hand.example/")
    service.disable_endpoint(by_hand)
    newest = endpoint(world.owner, "https://newest.example/")
    assert rows_of(admin_client, "webhookendpoint") == [by_hand, gone, failing, newest, well]
    chosen = {health: rows_of(admin_client, "webhookendpoint", health=health) for health in CHOICES}
    assert chosen == {"failing": [failing], "by_itself": [gone], "by_hand": [by_hand], "working": [newest, well]}


CHOICES = ("failing", "by_itself", "by_hand", "working")


def test_a_page_says_who_disabled_it(admin_client, world: World):
    rows = [endpoint(world.owner) for _ in range(3)]
    service.disable_endpoint(rows[0])
    admin_client.post(action(rows[1], "disable_this"), SUBMITTED)
    gone = {"status": "disabled", "disabled_reason": "gone", "disabled_at": timezone.now()}
    WebhookEndpoint.objects.filter(id=rows[2].id).update(**gone)
    shown = [words(admin_client.get(page_of(row)).content.decode()) for row in rows]
    assert "the tenant" in shown[0]
    assert re.search(r"disabled by:? admin\b", shown[1], re.IGNORECASE)
    assert re.search(r"disabled by:? Refrain\b", shown[2], re.IGNORECASE)
    assert "the receiver is gone" in shown[2]


def test_it_is_disabled_and_enabled_again_with_what_waits(admin_client, world: World):
    row = deliver(world.owner)
    assert "Disable this endpoint?" in admin_client.get(action(row.endpoint, "disable_this")).content.decode()
    answer = admin_client.post(action(row.endpoint, "disable_this"), SUBMITTED)
    assert answer["HX-Redirect"] == page_of(row.endpoint)
    row.refresh_from_db()
    assert (row.state, row.endpoint.status, row.endpoint.disabled_reason) == ("canceled", "disabled", "by_hand")
    admin_client.post(action(row.endpoint, "enable_this"), SUBMITTED)
    row.endpoint.refresh_from_db()
    assert row.endpoint.status == "enabled"


def test_a_page_offers_what_can_be_done(admin_client, world: World):
    row = endpoint(world.owner)
    page = admin_client.get(page_of(row)).content.decode()
    found = {name for name in ACTIONS if action(row, name) in page}
    assert found == ACTIONS - {"enable_this"}
    service.disable_endpoint(row)
    page = admin_client.get(page_of(row)).content.decode()
    assert {name for name in ACTIONS if action(row, name) in page} == {"rotate_this", "enable_this"}


ACTIONS = {"test_this", "rotate_this", "replay_this", "disable_this", "enable_this"}


def test_several_are_switched_and_tested_at_once(admin_client, world: World):
    rows = [endpoint(world.owner), endpoint(world.stranger)]
    chosen = {"_selected_action": [str(row.id) for row in rows]}
    page = admin_client.post(list_of("webhookendpoint"), {"action": "test", **chosen}, follow=True)
    tests = WebhookEvent.objects.filter(type="webhook.test")
    assert {event.endpoint for event in tests} == set(rows)
    assert all(event.public_id in page.content.decode() for event in tests)
    admin_client.post(list_of("webhookendpoint"), {"action": "disable", **chosen})
    assert not WebhookEndpoint.objects.filter(status="enabled").exists()
    page = admin_client.post(list_of("webhookendpoint"), {"action": "test", **chosen}, follow=True)
    assert "Enable it first" in page.content.decode()
    admin_client.post(list_of("webhookendpoint"), {"action": "enable", **chosen})
    assert not WebhookEndpoint.objects.filter(status="disabled").exists()


def test_a_new_secret_is_shown_once(admin_client, world: World):
    row = endpoint(world.owner)
    address = action(row, "rotate_this")
    assert not SECRET.search(admin_client.get(address).content.decode())
    answer = admin_client.post(address, {"overlap": "3600"})
    (secret,) = SECRET.findall(answer.content.decode())
    row.refresh_from_db()
    assert opened_secrets(row, timezone.now())[0] == secret
    assert opened_secrets(row, timezone.now() + timedelta(hours=2)) == [secret]
    pages = (page_of(row), list_of("webhookendpoint"), address)
    assert not any(SECRET.search(admin_client.get(page).content.decode()) for page in pages)
    assert not any(part["sealed"] in admin_client.get(page_of(row)).content.decode() for part in row.secrets)


def test_a_secret_too_many_is_refused_on_the_page(admin_client, world: World):
    row = endpoint(world.owner)
    for _ in range(4):
        service.rotate_secret(row, overlap=3600)
    answer = admin_client.post(action(row, "rotate_this"), {"overlap": "3600"}).content.decode()
    assert "5 secrets sign already" in words(answer)
    assert not SECRET.search(answer)


def test_what_was_given_up_is_sent_again(admin_client, world: World):
    row = deliver(world.owner, state="failed")
    old = deliver(world.owner, to=row.endpoint, state="failed", ended_at=timezone.now() - timedelta(days=2))
    admin_client.post(action(row.endpoint, "replay_this"), {"hours": "24", **SUBMITTED})
    assert list(WebhookDelivery.objects.filter(state="queued")) == [row]
    admin_client.post(action(old, "replay_this"), SUBMITTED)
    assert WebhookDelivery.objects.filter(state="queued").count() == 2


def test_chosen_deliveries_are_sent_again_where_that_can_be(admin_client, world: World):
    failed, running = deliver(world.owner, state="failed"), deliver(world.owner, state="running")
    chosen = {"action": "replay", "_selected_action": [str(failed.id), str(running.id)]}
    page = admin_client.post(list_of("webhookdelivery"), chosen, follow=True).content.decode()
    assert "To be sent again: 1" in page
    assert f"{running.public_id}: This delivery is being sent just now." in page


def test_a_delivery_shows_its_tries_and_its_payload(admin_client, world: World):
    row = deliver(world.owner, state="failed")
    assert row.subject in words(admin_client.get(list_of("webhookdelivery")).content.decode())
    page = words(admin_client.get(page_of(row)).content.decode())
    assert all(
        text in page for text in (row.public_id, row.event.public_id, "500", "0.25 s", "Sorry.", '"name": "anna"')
    )
    event = words(admin_client.get(page_of(row.event)).content.decode())
    assert row.subject in event
    assert URL in event
    assert rows_of(admin_client, "webhookevent", type="voice.ready") == [row.event]
    assert rows_of(admin_client, "webhookdelivery", type="voice.failed") == []
    assert rows_of(admin_client, "webhookdelivery", q=row.public_id) == [row]


def test_looking_lets_nobody_change(client, world: World):
    row = deliver(world.owner, state="failed")
    staff = User.objects.create_user("staff", password="staff-password", is_staff=True)
    models = ("webhookendpoint", "webhookdelivery", "webhookevent")
    staff.user_permissions.set(Permission.objects.filter(codename__in=[f"view_{model}" for model in models]))
    client.force_login(staff)
    for model in models:
        assert client.get(list_of(model)).status_code == 200
        assert client.get(reverse(f"admin:synth_{model}_add")).status_code == 403
    for shown in (row, row.endpoint, row.event):
        assert client.get(page_of(shown)).status_code == 200
        assert client.post(page_of(shown), {"url": "https://other.example/"}).status_code == 403
    for name in sorted(ACTIONS):
        assert client.post(action(row.endpoint, name), {"overlap": "0", "hours": "24", **SUBMITTED}).status_code == 403
    assert client.post(action(row, "replay_this"), SUBMITTED).status_code == 403
    row.refresh_from_db()
    assert (row.state, row.endpoint.status, len(row.endpoint.secrets)) == ("failed", "enabled", 1)


@pytest.mark.parametrize("model", ["webhookendpoint", "webhookdelivery", "webhookevent"])
def test_a_list_costs_the_same_with_more_rows(admin_client, world: World, model, django_assert_max_num_queries):
    for _ in range(5):
        deliver(world.owner)
    with django_assert_max_num_queries(8) as captured:
        admin_client.get(list_of(model))
    assert not [query["sql"] for query in captured.captured_queries if "COUNT(" in query["sql"]]
