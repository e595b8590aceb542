"""Gives every event its deliveries, one for each endpoint that is told. `sending.py` calls it, then sends them."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from synth.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.clock import database_now
from synth.models.states import State
from synth.models.webhook import EventType

BATCH = 200
SPEECH = "speech."
Endpoints = dict[UUID, list[WebhookEndpoint]]


def route_events() -> int:
    """Write the deliveries of a batch of events; how many events.

    What an endpoint is told although it is disabled becomes a canceled delivery, which can be replayed; what it is told
    merely because it takes the type becomes none.
    """
    return _route() if _unrouted().exists() else 0


def is_for_one(kind: str) -> bool:
    """Events of speech go where their request says, tests where they are asked for; no endpoint takes such a type."""
    return kind == EventType.TEST or kind.startswith(SPEECH)


@transaction.atomic
def _route() -> int:
    """Routers wait for each other: a later event of a subject must not get ahead of an earlier one."""
    events = list(_unrouted().select_for_update(of=("self",))[:BATCH])
    now = database_now()
    enabled = _enabled_of({event.tenant_id for event in events})
    rows = [row for event in events for row in _deliveries(event, enabled[event.tenant_id], now)]
    there = WebhookEndpoint.hold({row.endpoint_id for row in rows})  # but for those that are deleted just now
    rows = [row for row in rows if row.endpoint_id in there]
    WebhookDelivery.objects.bulk_create(rows, ignore_conflicts=True, batch_size=BATCH)
    WebhookEvent.objects.filter(id__in=[event.id for event in events]).update(routed=True)
    return len(events)


def _unrouted() -> QuerySet[WebhookEvent]:
    return WebhookEvent.objects.filter(routed=False).select_related("endpoint").order_by("created_at", "id")


def _enabled_of(tenants: Iterable[UUID]) -> Endpoints:
    found: Endpoints = defaultdict(list)
    enabled = WebhookEndpoint.objects.filter(tenant_id__in=list(tenants), status=WebhookEndpoint.Status.ENABLED)
    for endpoint in enabled.order_by("created_at", "id"):
        found[endpoint.tenant_id].append(endpoint)
    return found


def _deliveries(event: WebhookEvent, enabled: list[WebhookEndpoint], now: datetime) -> list[WebhookDelivery]:
    told = {endpoint.id: endpoint for endpoint in enabled if _takes(endpoint, event.type)}
    if event.endpoint is not None:
        told[event.endpoint.id] = event.endpoint
    return [_delivery(event, endpoint, now) for endpoint in told.values()]


def _takes(endpoint: WebhookEndpoint, kind: str) -> bool:
    return not is_for_one(kind) and (not endpoint.events or kind in endpoint.events)


def _delivery(event: WebhookEvent, endpoint: WebhookEndpoint, now: datetime) -> WebhookDelivery:
    disabled = endpoint.status == WebhookEndpoint.Status.DISABLED
    return WebhookDelivery(
        tenant_id=event.tenant_id,
        event=event,
        endpoint=endpoint,
        url=address_of(event, endpoint),
        subject=event.subject,
        state=State.CANCELED if disabled else State.QUEUED,
        ended_at=now if disabled else None,
        not_before=now,
        created_at=now,  # the database's clock: deliveries of a subject are sent in this order
    )


def address_of(event: WebhookEvent, endpoint: WebhookEndpoint) -> str:
    """The callback's own where the request named one; else the endpoint's as it is now."""
    callback = event.url if event.endpoint_id == endpoint.id else ""
    return callback or endpoint.url
