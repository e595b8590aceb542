"""What is sent for one delivery, by the Standard Webhooks specification: body and headers, signed when it is sent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from synth import wiring
from synth.codec import utc
from synth.models import Job, WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.states import State
from synth.models.webhook import EventType
from synth.service.links import url_members
from synth.service.webhooks.routing import address_of
from synth.stored import audio_is_kept, audio_members, of_job
from synth.webhooks.signing import signature
from tenants.ids import parse_id
from tenants.types import TenantRef

API_VERSION = "2026-12-01"
MOST_BYTES = 20_000
# What a tenant put into its request comes back to it, unless that would make the payload too large.
LEFT_OUT_FIRST = "metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One request: where it goes, and what it says."""

    url: str
    headers: Mapping[str, str]
    body: bytes


def message_of(delivery: WebhookDelivery, sent_at: datetime) -> Message:
    """Links in it are signed now. Its id is the same however often it is sent."""
    event, endpoint = delivery.event, delivery.endpoint
    body = body_of(event)
    headers = {
        "content-type": "application/json",
        "webhook-id": event.public_id,
        "webhook-timestamp": str(int(sent_at.timestamp())),
        "webhook-signature": signature(opened_secrets(endpoint, sent_at), event.public_id, sent_at, body=body),
    }
    return Message(url=address_of(event, endpoint), headers=headers, body=body)


def body_of(event: WebhookEvent) -> bytes:
    payload = payload_of(event)
    body = _json(payload)
    if len(body) > MOST_BYTES:
        payload["data"].pop(LEFT_OUT_FIRST, None)
        body = _json(payload)
    return body


def payload_of(event: WebhookEvent, *, with_urls: bool = True) -> dict[str, Any]:
    """Without URLs for whoever may look at webhooks, and not hear the speech that they tell of."""
    return {
        "id": event.public_id,
        "type": event.type,
        "api_version": API_VERSION,
        "created_at": utc(event.created_at),
        "data": {**event.data, **_links(event, with_urls=with_urls)},
    }


def opened_secrets(endpoint: WebhookEndpoint, now: datetime) -> list[str]:
    """Those that sign at this time, the newest first."""
    seal = wiring.webhook_seal()
    return [seal.open(kept["sealed"]) for kept in endpoint.signing_secrets(now)]


def _links(event: WebhookEvent, *, with_urls: bool) -> dict[str, Any]:
    """The sound of a succeeded speech, for as long as it is kept."""
    job_id = parse_id("job", event.subject) if event.type == EventType.SPEECH_SUCCEEDED else None
    if job_id is None:
        return {}
    succeeded = Job.objects.filter(id=job_id, tenant_id=event.tenant_id, state=State.SUCCEEDED)
    job = succeeded.select_related("rendering").first()
    if job is None or not audio_is_kept(job):
        return {"audio": None}
    stored = of_job(job)
    urls = url_members(TenantRef(event.tenant_id), stored) if with_urls else {}
    return {"audio": audio_members(stored) | urls}


def _json(payload: Mapping[str, Any]) -> bytes:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
