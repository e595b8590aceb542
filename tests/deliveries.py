"""Webhooks as they are after some sending, made without workers: endpoints, events and deliveries."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from synth import service, wiring
from synth.models import DeliveryAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.states import OPEN
from synth.service import EndpointOrder
from synth.webhooks.signing import new_secret
from tenants.ids import new_id, public_id
from tests.world import Member

URL = "https://example.com/hook"


def endpoint(member: Member, url: str = URL, **changes: Any) -> WebhookEndpoint:
    row, _secret = service.create_endpoint(member.ref, EndpointOrder(url=url))
    WebhookEndpoint.objects.filter(id=row.id).update(**changes)
    row.refresh_from_db()
    return row


def make_endpoint(member: Member, url: str, **columns: Any) -> WebhookEndpoint:
    """At any URL: nothing checks it before something is sent there."""
    secrets = [{"sealed": wiring.webhook_seal().seal(new_secret()), "until": None}]
    return WebhookEndpoint.objects.create(tenant=member.tenant, url=url, **{"secrets": secrets, **columns})


def secrets_of(endpoint: WebhookEndpoint) -> list[str]:
    return [wiring.webhook_seal().open(kept["sealed"]) for kept in endpoint.secrets]


def deliver(member: Member, url: str = URL, *, to: WebhookEndpoint | None = None, **columns: Any) -> WebhookDelivery:
    """A delivery with one try that was answered 500."""
    voice = public_id("vox", new_id())
    values = {"state": "queued", "tries": 1, "attempt": 1, "last_status": 500, **columns}
    if values["state"] not in OPEN:
        values.setdefault("ended_at", timezone.now())
    kind = values.pop("type", "voice.ready")
    event = WebhookEvent.objects.create(
        tenant=member.tenant, type=kind, subject=voice, data={"id": voice, "name": "anna"}, routed=True
    )
    to = to or endpoint(member, url)
    row = WebhookDelivery.objects.create(
        tenant=member.tenant, event=event, endpoint=to, url=to.url, subject=voice, **values
    )
    DeliveryAttempt.objects.create(
        delivery=row, number=1, sent_at=timezone.now(), seconds=0.25, status=500, answer="Sorry."
    )
    return row
