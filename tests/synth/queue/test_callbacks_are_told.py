"""Every job with a callback leaves exactly one event, in the transaction that ends it, however that happens."""

from __future__ import annotations

import pytest

from synth.models import Job, WebhookEndpoint, WebhookEvent
from synth.service.endings import Failure, cancel_job, rendering_succeeded, synthesis_failed
from synth.service.webhooks.callbacks import Callback
from tests.engines.counting import FAIL_PERMANENTLY
from tests.synth.queue.desk import claim, order, render_all, speak_all, work

pytestmark = pytest.mark.django_db


@pytest.fixture
def callback(world) -> Callback:
    return Callback(WebhookEndpoint.objects.create(tenant=world.owner.tenant, url="https://hooks.example/a").id)


def told() -> dict[str, str]:
    """Subject -> type; a subject that is told of twice is an error."""
    rows = list(WebhookEvent.objects.values_list("subject", "type"))
    assert len(rows) == len(dict(rows)), rows
    return dict(rows)


def test_all_who_wait_for_one_rendition_are_told_each(world, engine, callback):
    jobs = [order(world.owner, "One.", callback=callback) for _ in range(3)]
    order(world.owner, "One.")  # without one
    work(engine)
    assert told() == {job.public_id: "speech.succeeded" for job in jobs}
    event = WebhookEvent.objects.get(subject=jobs[0].public_id)
    assert (event.tenant_id, event.endpoint_id) == (world.owner.tenant.id, callback.endpoint_id)


def test_a_failure_is_told_with_its_code(world, engine, callback):
    job = order(world.owner, FAIL_PERMANENTLY, callback=callback)
    other = order(world.owner, f"One. {FAIL_PERMANENTLY}", callback=callback)
    work(engine)
    assert told() == {job.public_id: "speech.failed", other.public_id: "speech.failed"}
    failed = Job.objects.get(id=job.id)
    assert WebhookEvent.objects.get(subject=job.public_id).data["error"] == {"code": failed.error_code}


def test_a_canceled_job_is_told_once_and_the_others_go_on(world, engine, callback):
    gone, stays = (order(world.owner, "One.", callback=callback) for _ in range(2))
    cancel_job(world.owner.ref, gone.id)
    cancel_job(world.owner.ref, gone.id)
    work(engine)
    assert told() == {gone.public_id: "speech.canceled", stays.public_id: "speech.succeeded"}


def test_a_result_that_comes_too_late_tells_nothing(world, engine, callback):
    order(world.owner, "One.", callback=callback)
    claimed = claim()
    claimed.attempt += 1  # another worker has it by now
    assert synthesis_failed(claimed, Failure(code="late")) == []
    assert told() == {}


def test_the_event_is_gone_with_the_transaction_that_did_not_happen(world, engine, callback, monkeypatch):
    order(world.owner, "One.", callback=callback)
    speak_all(engine)

    def breaks(*args, **kwargs):
        published = rendering_succeeded.__wrapped__(*args, **kwargs)
        assert WebhookEvent.objects.exists()
        raise RuntimeError(published)

    from django.db import transaction

    monkeypatch.setattr("synth.service.rendering.rendering_succeeded", transaction.atomic(breaks))
    render_all()
    assert told() == {}
