"""What row W1 does in the environment of its stack: endpoints, events and replays, as the service makes them.

`manage.py shell -c "from tests.faults.webhook_desk import make; make(…)"` prints one line of JSON.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from django.db import transaction

from synth import wiring
from synth.models import DeliveryAttempt, WebhookEndpoint
from synth.service.deliveries import replay_failed
from synth.service.events import note_event
from synth.webhooks.signing import new_secret
from tenants.models import Tenant


def make(urls: dict[str, str]) -> None:
    """An endpoint for each address; their ids and secrets by name."""
    tenant = Tenant.objects.order_by("created_at").first()
    told = {}
    for name, url in urls.items():
        secret = new_secret()
        sealed = [{"sealed": wiring.webhook_seal().seal(secret), "until": None}]
        row = WebhookEndpoint.objects.create(tenant=tenant, url=url, description=name, secrets=sealed)
        told[name] = {"id": row.id.hex, "secret": secret}
    print(json.dumps(told))


def tell(counts: dict[str, int], *, word: str) -> None:
    """So many events for each endpoint, each in a transaction of its own, and one of each in turn."""
    endpoints = {row.description: row for row in WebhookEndpoint.objects.select_related("tenant")}
    for number in range(max(counts.values())):
        for name in [name for name, count in counts.items() if number < count]:
            subject = f"job_{word}_{name}_{number}"
            with transaction.atomic():
                data = {"id": subject, "number": number}
                note_event(endpoints[name].tenant.ref, "speech.failed", subject, data, endpoint_id=endpoints[name].id)


def replay(name: str) -> None:
    print(replay_failed(WebhookEndpoint.objects.get(description=name), datetime(2026, 1, 1, tzinfo=UTC)))


def longest_wait(name: str) -> None:
    """Seconds from an event to its first sending, at worst."""
    sent = DeliveryAttempt.objects.filter(delivery__endpoint__description=name, number=1)
    pairs = sent.values_list("sent_at", "delivery__event__created_at")
    print(max((sent_at - created_at).total_seconds() for sent_at, created_at in pairs))
