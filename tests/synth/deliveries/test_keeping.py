"""Events and deliveries are kept for 30 days, given-up ones for 90; the sweeper rings for what is due."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from synth.models import DeliveryAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.clock import database_now
from synth.models.states import State
from synth.queue.doorbell import IO_QUEUE
from synth.service.expiring import forget_events
from synth.service.sweeping import sweep
from synth.service.webhooks.routing import route_events
from tenants.ids import first_id_at, new_id
from tests.deliveries import make_endpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(world) -> WebhookEndpoint:
    return make_endpoint(world.owner, "https://one.example.com/")


def kept(endpoint: WebhookEndpoint, days: float, state: str) -> bool:
    """Whether an event of that age is kept whose delivery is in this state and ended then."""
    then = database_now() - timedelta(days=days)
    event = WebhookEvent.objects.create(
        id=UUID(int=first_id_at(then).int + 1), tenant=endpoint.tenant, type="voice.ready", subject="old", routed=True
    )
    row = WebhookDelivery.objects.create(
        tenant=endpoint.tenant, event=event, endpoint=endpoint, url="https://one.example.com/", subject="old",
        state=state, ended_at=None if state in {State.QUEUED, State.RUNNING} else then,
    )  # fmt: skip
    DeliveryAttempt.objects.create(delivery=row, number=1, sent_at=then, seconds=0.1, status=200)
    forget_events()
    found = WebhookEvent.objects.filter(id=event.id).exists()
    assert WebhookDelivery.objects.count() == DeliveryAttempt.objects.count() == int(found)
    WebhookEvent.objects.all().delete()
    return found


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.CANCELED])
def test_what_has_ended_is_kept_for_thirty_days(endpoint, state):
    assert kept(endpoint, 29.9, state)
    assert not kept(endpoint, 30.1, state)


def test_what_was_given_up_is_kept_for_ninety_days(endpoint):
    assert kept(endpoint, 89.9, State.FAILED)
    assert not kept(endpoint, 90.1, State.FAILED)


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING])
def test_what_is_open_is_kept(endpoint, state):
    assert kept(endpoint, 400, state)


def test_events_that_nobody_was_told_of_go_too_but_not_before_they_are_routed(world):
    old = UUID(int=first_id_at(database_now() - timedelta(days=31)).int + 1)
    WebhookEvent.objects.create(id=old, tenant=world.owner.tenant, type="voice.ready", subject="old")
    assert forget_events() == 0
    route_events()
    assert forget_events() == 1


def test_the_first_id_of_a_time_sorts_before_what_is_made_then():
    before = database_now()
    made = new_id()
    assert first_id_at(before - timedelta(milliseconds=2)) < made < first_id_at(before + timedelta(minutes=1))


@pytest.fixture
def rings(redis_server):
    """How many bells of the io workers the sweeper leaves, from silence."""
    with redis_server.client() as client:

        def count() -> int:
            client.flushall()
            sweep()
            return client.llen(IO_QUEUE)

        yield count


def test_the_sweeper_rings_for_events_and_deliveries_that_are_due(committed_world, rings):
    endpoint = make_endpoint(committed_world.owner, "https://one.example.com/")
    assert rings() == 0
    WebhookEvent.objects.create(
        tenant=committed_world.owner.tenant, type="speech.failed", subject="job_1", endpoint=endpoint
    )
    assert rings() == 1
    route_events()
    assert rings() == 1
    WebhookDelivery.objects.update(not_before=database_now() + timedelta(minutes=1))
    assert rings() == 0
