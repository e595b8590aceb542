"""What row W1 does in the environment of its stack: endpoints, events and replays, as the service makes them.

`manage.py shell -c "from tests.faults.webhook_desk import make; make(…)"` prints one line of JSON.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from django.db import transaction

from synth import wiring
from synth.models import DeliveryAttempt, WebhookEndpoint
from synth.service.webhooks.events import note_event
from synth.service.webhooks.outcomes import replay_failed
from synth.webhooks.signing import new_secret
from tenants.models import Tenant


def make(urls: dict[str, str], counts: dict[str, int]) -> None:
    """An endpoint for each address, with so many events; prints their secrets by name."""
    tenant = Tenant.objects.order_by("created_at").first()
    secrets = {name: new_secret() for name in urls}
    for name, url in urls.items():
        sealed = [{"sealed": wiring.webhook_seal().seal(secrets[name]), "until": None}]
        WebhookEndpoint.objects.create(tenant=tenant, url=url, description=name, secrets=sealed)
    tell(counts, word="calm")
    print(json.dumps(secrets))


def tell(counts: dict[str, int], *, word: str) -> None:
    """So many events for each endpoint, each in a transaction of its own, and one of each in turn."""
    endpoints = {row.description: row for row in WebhookEndpoint.objects.select_related("tenant")}
    for number in range(max(counts.values())):
        for name in [name for name, count in counts.items() if number < count]:
            subject = f"job_{word}_{name}_{number}"
            endpoint = endpoints[name]
            with transaction.atomic():
                note_event(endpoint.tenant.ref, "speech.failed", subject, {"id": subject}, endpoint_id=endpoint.id)


def replay(name: str, *, living: str) -> None:
    """What was given up; prints how many, and the seconds from an event of `living` to its sending, at worst."""
    sent = DeliveryAttempt.objects.filter(delivery__endpoint__description=living, number=1)
    waits = [then - noted for then, noted in sent.values_list("sent_at", "delivery__event__created_at")]
    replayed = replay_failed(WebhookEndpoint.objects.get(description=name), datetime(2026, 1, 1, tzinfo=UTC))
    print(json.dumps({"replayed": replayed, "longest_wait": max(waits).total_seconds()}))
