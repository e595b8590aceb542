"""Endpoints that are gone, or have failed for days, are told nothing more, and the operators hear of it."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from django.core import mail

from synth.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.clock import database_now
from synth.models.states import State
from synth.queue.deliveries import cancel_open
from synth.service.webhooks.events import note_event
from synth.service.webhooks.outcomes import replay
from tests.servers.inbox import Reply
from tests.servers.receiver import wait_until

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(committed_world):
    """Operators are told on commit."""
    return committed_world


@pytest.fixture(autouse=True)
def operators(settings):
    settings.ADMINS = [("Operator", "operator@example.com")]


def the_mail() -> str:
    """It is sent by a thread of its own."""
    assert wait_until(lambda: bool(mail.outbox)), "no mail came"
    return mail.outbox[0].subject


def states() -> list[str]:
    return sorted(WebhookDelivery.objects.values_list("state", flat=True))


def test_one_that_is_gone_is_disabled_at_once(world, receive, endpoint_of, tell, send, caplog):
    inbox = receive(lambda _: Reply(status=410))
    endpoint = endpoint_of(world.owner, inbox)
    for _ in range(3):
        tell(endpoint)
    with caplog.at_level(logging.ERROR):
        send()
    endpoint.refresh_from_db()
    assert (endpoint.status, endpoint.disabled_reason, endpoint.disabled_at is not None) == ("disabled", "gone", True)
    assert (states(), len(inbox.received)) == (["canceled", "canceled", "failed"], 1)
    assert endpoint.public_id in caplog.text
    assert "gone" in the_mail()


def test_a_callbacks_own_address_that_is_gone_ends_its_delivery_alone(world, receive, endpoint_of, send):
    inbox = receive(lambda request: Reply(status=410 if request.path == "/jobs/7" else 200))
    endpoint = endpoint_of(world.owner, inbox, any_path=True)
    own = inbox.url.replace("/hooks", "/jobs/7")
    note_event(world.owner.ref, "speech.failed", "job_7", {}, endpoint_id=endpoint.id, url=own)
    note_event(world.owner.ref, "speech.failed", "job_8", {}, endpoint_id=endpoint.id)
    send()
    endpoint.refresh_from_db()
    assert (endpoint.status, states()) == ("enabled", ["failed", "succeeded"])


def test_one_that_has_failed_for_too_long_is_disabled(world, receive, endpoint_of, tell, send, webhooks):
    webhooks(give_up_after=864_000)
    endpoint = endpoint_of(world.owner, receive(lambda _: Reply(status=500)))
    WebhookEndpoint.objects.update(failing_since=database_now() - timedelta(days=10, seconds=1))
    tell(endpoint)
    tell(endpoint)
    send()
    endpoint.refresh_from_db()
    assert (endpoint.status, endpoint.disabled_reason) == ("disabled", "failing")
    assert set(states()) == {"canceled"}
    assert "failing" in the_mail()


def test_one_that_fails_is_marked_and_forgiven_at_its_first_success(world, receive, endpoint_of, tell, send):
    inbox = receive(lambda request: Reply(status=500 if request.number == 1 else 200))
    endpoint = endpoint_of(world.owner, inbox)
    tell(endpoint)
    before = database_now()
    send()
    endpoint.refresh_from_db()
    assert before <= endpoint.failing_since <= database_now()
    WebhookDelivery.objects.update(not_before=database_now())
    send()
    endpoint.refresh_from_db()
    assert (endpoint.failing_since, endpoint.status) == (None, "enabled")


def test_it_counts_from_the_first_failure_after_the_last_success(world, receive, endpoint_of, tell, send):
    endpoint = endpoint_of(world.owner, receive(lambda _: Reply(status=500)))
    since = database_now() - timedelta(days=9)
    WebhookEndpoint.objects.update(failing_since=since)
    tell(endpoint)
    send()
    endpoint.refresh_from_db()
    assert (endpoint.failing_since, endpoint.status) == (since, "enabled")


def test_what_is_canceled_can_be_replayed_once_the_endpoint_is_enabled(world, receive, endpoint_of, tell, send):
    inbox = receive()
    endpoint = endpoint_of(world.owner, inbox, status="disabled")
    event = tell(endpoint)
    send()
    row = WebhookDelivery.objects.get()
    assert (row.state, inbox.received) == (State.CANCELED, [])
    WebhookEndpoint.objects.update(status="enabled")
    assert replay(row)
    send()
    assert inbox.ids() == {event.public_id}


def test_canceling_leaves_what_is_being_sent(world, receive, endpoint_of, tell, send):
    endpoint = endpoint_of(world.owner, receive(lambda _: Reply(status=500)))
    for _ in range(2):
        tell(endpoint)
    send()
    first = WebhookDelivery.objects.order_by("id").first()
    WebhookDelivery.objects.filter(id=first.id).update(state=State.RUNNING)
    assert cancel_open([endpoint.id]) == 1
    assert states() == ["canceled", "running"]
    assert WebhookEvent.objects.count() == 2
