"""An endpoint may be deleted at any moment: neither the deletion nor whoever tells it something just then fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import pytest
from django.db import transaction

from synth import service
from synth.models import DeliveryAttempt, Job, WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.clock import database_now
from synth.queue.deliveries import claim_deliveries
from synth.service.webhooks.callbacks import Callback
from synth.service.webhooks.events import note_event
from synth.service.webhooks.outcomes import Try, record
from synth.service.webhooks.routing import route_events
from synth.service.webhooks.sending import Room
from tenants.ids import new_id
from tests.deliveries import make_endpoint
from tests.servers.receiver import wait_until
from tests.synth.deliveries.conftest import WORKER
from tests.synth.queue.desk import at_once, order, somebody_waits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def endpoint(committed_world) -> WebhookEndpoint:
    return make_endpoint(committed_world.owner, "https://one.example.com/")


def while_it_is_deleted(endpoint: WebhookEndpoint, tell: Callable[[], object]) -> list[object]:
    """`tell` has written, and commits once the deletion waits for it, or is through. What both came to."""
    written, ended = threading.Event(), threading.Event()

    def writes() -> None:
        with transaction.atomic():
            tell()
            written.set()
            wait_until(lambda: ended.is_set() or somebody_waits(), seconds=30)

    def deletes() -> None:
        assert written.wait(30)
        try:
            service.delete_endpoint(endpoint)
        finally:
            ended.set()

    return [result for result in at_once([writes, deletes]) if result is not None]


def test_an_event_that_is_noted_meanwhile_is_for_nobody(committed_world, endpoint):
    def tell() -> None:
        note_event(committed_world.owner.ref, "speech.failed", "job_1", {}, endpoint_id=endpoint.id)

    assert while_it_is_deleted(endpoint, tell) == []
    assert not WebhookEndpoint.objects.exists()
    assert WebhookEvent.objects.get().endpoint is None


def test_deliveries_that_are_written_meanwhile_go_with_it(committed_world, endpoint):
    note_event(committed_world.owner.ref, "voice.ready", "vox_1", {})
    assert while_it_is_deleted(endpoint, route_events) == []
    assert not WebhookEndpoint.objects.exists()
    assert not WebhookDelivery.objects.exists()
    assert WebhookEvent.objects.get().routed


def test_a_try_that_is_noted_meanwhile_goes_with_it(committed_world, endpoint):
    note_event(committed_world.owner.ref, "voice.ready", "vox_1", {})
    route_events()
    (claim,) = claim_deliveries(WORKER, Room(sound=1, doubtful=1)).to_send
    sent = Try(sent_at=database_now(), seconds=0.1, status=200)
    assert while_it_is_deleted(endpoint, lambda: record(claim, sent)) == []
    assert not WebhookEndpoint.objects.exists()
    assert not DeliveryAttempt.objects.exists()


def test_a_job_that_is_queued_meanwhile_ends_without_a_callback(committed_world, endpoint):
    def tell() -> None:
        order(committed_world.owner, "One.", callback=Callback(endpoint.id))

    assert while_it_is_deleted(endpoint, tell) == []
    assert not WebhookEndpoint.objects.exists()
    assert Job.objects.get().callback is None


def test_a_callback_that_was_deleted_before_its_job_was_written_is_told_nothing(committed_world):
    job = order(committed_world.owner, "One.", callback=Callback(new_id(), "https://one.example.com/jobs"))
    job.refresh_from_db()
    assert (job.callback_id, job.callback_url) == (None, "")


def test_an_event_for_a_deleted_endpoint_is_for_nobody(committed_world):
    note_event(committed_world.owner.ref, "speech.failed", "job_1", {}, endpoint_id=new_id())
    assert WebhookEvent.objects.get().endpoint_id is None


def test_two_deletions_at_once(endpoint):
    results = at_once([lambda: service.delete_endpoint(endpoint)] * 2)
    with suppress(ValueError):
        results.remove(None)
    assert [type(result).__name__ for result in results if result] in ([], ["NotFound"])
    assert not WebhookEndpoint.objects.exists()
