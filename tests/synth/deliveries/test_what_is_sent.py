"""A receiver with the library of Standard Webhooks takes every delivery, and none that is altered, old or foreign."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from synth import wiring
from synth.codec import utc
from synth.models import Job, WebhookDelivery
from synth.models.states import State
from synth.service.webhooks import sending
from synth.service.webhooks.payloads import MOST_BYTES, body_of
from synth.webhooks.signing import new_secret
from tests.deliveries import secrets_of
from tests.synth.admin.rows import ENGLISH, make_work

pytestmark = pytest.mark.django_db


@pytest.fixture
def delivered(world, receive, endpoint_of, tell, send):
    """One delivery, with its event and endpoint."""
    inbox = receive()
    endpoint = endpoint_of(world.owner, inbox)
    event = tell(endpoint, id="job_1", error={"code": "synthesis_failed"}, metadata={"your": "ünïcode 你好"})
    send()
    return inbox.received[0], event, endpoint


def test_the_library_of_standard_webhooks_verifies_it(delivered):
    request, event, endpoint = delivered
    (secret,) = secrets_of(endpoint)
    assert request.verified(secret) == {
        "id": event.public_id,
        "type": "speech.failed",
        "api_version": "2026-12-01",
        "created_at": utc(event.created_at),
        "data": {"id": "job_1", "error": {"code": "synthesis_failed"}, "metadata": {"your": "ünïcode 你好"}},
    }
    assert request.id == event.public_id
    assert abs(request.timestamp - timezone.now().timestamp()) < 60
    assert request.headers["content-type"] == "application/json"
    assert WebhookDelivery.objects.get().state == State.SUCCEEDED


def test_an_altered_body_is_refused(delivered):
    request, _, endpoint = delivered
    altered = request.body.replace(b"synthesis_failed", b"synthesis_paused")
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets_of(endpoint)[0]).verify(altered, dict(request.headers))


def test_an_old_timestamp_is_refused(delivered):
    request, event, endpoint = delivered
    old = timezone.now() - timedelta(minutes=6)
    webhook = Webhook(secrets_of(endpoint)[0])
    signed_then = {
        **request.headers,
        "webhook-timestamp": str(int(old.timestamp())),
        "webhook-signature": webhook.sign(event.public_id, old, request.body.decode()),
    }
    with pytest.raises(WebhookVerificationError, match="too old"):
        webhook.verify(request.body, signed_then)


def test_a_timestamp_that_was_exchanged_is_refused(delivered):
    request, _, endpoint = delivered
    exchanged = {**request.headers, "webhook-timestamp": str(request.timestamp + 1)}
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets_of(endpoint)[0]).verify(request.body, exchanged)


def test_a_wrong_secret_is_refused(delivered):
    request, _, _ = delivered
    with pytest.raises(WebhookVerificationError):
        request.verified(new_secret())


def test_every_secret_signs_until_its_time_is_over(world, receive, endpoint_of, tell, send):
    seal, now = wiring.webhook_seal(), timezone.now()
    newest, older, over = new_secret(), new_secret(), new_secret()
    inbox = receive()
    endpoint = endpoint_of(
        world.owner,
        inbox,
        secrets=[
            {"sealed": seal.seal(newest), "until": None},
            {"sealed": seal.seal(older), "until": (now + timedelta(hours=1)).isoformat()},
            {"sealed": seal.seal(over), "until": (now - timedelta(seconds=1)).isoformat()},
        ],
    )
    tell(endpoint)
    send()
    (request,) = inbox.received
    assert request.verified(newest) == request.verified(older)
    with pytest.raises(WebhookVerificationError):
        request.verified(over)


def test_secrets_are_read_with_a_former_secret_key(world, receive, endpoint_of, tell, send, settings):
    inbox = receive()
    endpoint = endpoint_of(world.owner, inbox)
    (secret,) = secrets_of(endpoint)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another one, of which nothing was sealed before"
    tell(endpoint)
    send()
    assert inbox.received[0].verified(secret)


def test_secrets_that_cannot_be_read_are_a_failure_that_may_pass(world, receive, endpoint_of, tell, send, settings):
    inbox = receive()
    endpoint = endpoint_of(world.owner, inbox)
    tell(endpoint)
    settings.SECRET_KEY = "another one, and the former one is not told"
    send()
    row = WebhookDelivery.objects.get()
    assert (inbox.received, row.state, row.last_error) == ([], State.QUEUED, "internal_error")
    endpoint.refresh_from_db()
    assert endpoint.failing_since is None
    assert not sending._manners.those(prompt=True)


def test_the_sound_of_a_speech_has_a_fresh_address(world, receive, endpoint_of, tell, send):
    work = make_work(world.owner.tenant, ENGLISH)
    inbox = receive()
    endpoint = endpoint_of(world.owner, inbox)
    tell(endpoint, kind="speech.succeeded", subject=work.job.public_id, id=work.job.public_id)
    send()
    data = json.loads(inbox.received[0].body)["data"]
    assert (data["id"], data["audio"]["sha256"]) == (work.job.public_id, work.rendering.digest)
    assert data["audio"]["url"].startswith("http")
    assert data["audio"]["url_expires_at"] > utc(timezone.now())


def test_a_sound_that_is_no_longer_kept_has_none(world, receive, endpoint_of, tell, send, settings):
    work = make_work(world.owner.tenant, ENGLISH)
    type(work.rendering).objects.update(digest="")
    inbox = receive()
    tell(endpoint_of(world.owner, inbox), kind="speech.succeeded", subject=work.job.public_id)
    send()
    assert json.loads(inbox.received[0].body)["data"] == {"audio": None}


def test_nobody_is_told_of_another_tenants_sound(world, receive, endpoint_of, tell, send):
    work = make_work(world.stranger.tenant, ENGLISH)
    inbox = receive()
    tell(endpoint_of(world.owner, inbox), kind="speech.succeeded", subject=work.job.public_id)
    send()
    assert json.loads(inbox.received[0].body)["data"] == {"audio": None}
    assert Job.objects.get().tenant_id == world.stranger.tenant.id


def test_metadata_that_would_make_it_too_large_stays_away(world, receive, endpoint_of, tell):
    endpoint = endpoint_of(world.owner, receive())
    event = tell(endpoint, id="job_1", metadata={"long": "x" * MOST_BYTES})
    assert json.loads(body_of(event))["data"] == {"id": "job_1"}
    assert len(body_of(event)) < MOST_BYTES
