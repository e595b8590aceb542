"""Notes what tenants are to be told, in the transaction that makes it true. `routing.py` and `sending.py` tell them."""

from typing import Any
from uuid import UUID

from django.db import transaction

from synth import wiring
from synth.models import WebhookEndpoint, WebhookEvent
from tenants.types import TenantRef


def note_event(
    tenant: TenantRef, kind: str, subject: str, data: dict[str, Any], *, endpoint_id: UUID | None = None, url: str = ""
) -> None:
    """To be called in the transaction of what happened. What is noted already is not noted twice.

    `subject` is the public id of what it happened to, `data` what the payload says of it beside links. `endpoint_id` is
    the callback of the request, `url` its address there where it is not the endpoint's own; one that was deleted
    meanwhile is told nothing.
    """
    if endpoint_id is not None and not WebhookEndpoint.hold([endpoint_id]):
        endpoint_id, url = None, ""
    event = WebhookEvent(tenant_id=tenant.id, type=kind, subject=subject, data=data, endpoint_id=endpoint_id, url=url)
    WebhookEvent.objects.bulk_create([event], ignore_conflicts=True)
    transaction.on_commit(wiring.doorbell().ring_webhooks)
