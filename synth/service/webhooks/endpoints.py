"""Where a tenant wants to be told: endpoints made, changed, switched, tested, and their secrets. Doors call these."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, OperationalError, transaction

from synth import wiring
from synth.conf import conf
from synth.errors import DeliveryRunning, EndpointDisabled, TooManyEndpoints, TooManySecrets, TooManyTests
from synth.fields import refusal
from synth.models import EventType, WebhookDelivery, WebhookEndpoint, WebhookEvent
from synth.models.clock import database_now
from synth.models.states import OPEN
from synth.queue.deliveries import cancel_open
from synth.service.webhooks.events import note_event
from synth.service.webhooks.outcomes import replay, replay_failed
from synth.service.webhooks.routing import is_for_one
from synth.webhooks.addresses import ForbiddenAddress
from synth.webhooks.signing import new_secret
from tenants.errors import NotFound
from tenants.ids import new_id, public_id
from tenants.models import Tenant
from tenants.types import TenantRef

MOST_ENDPOINTS = 20
MOST_SECRETS = 5
DELETED_AT_ONCE = 500
# Tries, should others name it meanwhile.
DELETED_WITHIN = 5
MOST_TESTS = 10
TESTS_WITHIN = timedelta(minutes=1)
# How long an earlier secret signs beside a new one.
OVERLAP = 86_400
LONGEST_OVERLAP = 7 * 86_400
# What an endpoint can choose of.
CHOOSABLE = tuple(kind.value for kind in EventType if not is_for_one(kind))

Status = WebhookEndpoint.Status
Reason = WebhookEndpoint.Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOrder:
    """What an endpoint is to be; None leaves it as it is, or at its default."""

    url: str | None = None
    events: tuple[str, ...] | None = None
    description: str | None = None
    any_path: bool | None = None

    @property
    def columns(self) -> dict[str, Any]:
        events = None if self.events is None else list(self.events)
        told = {"url": self.url, "events": events, "description": self.description, "any_path": self.any_path}
        return {name: value for name, value in told.items() if value is not None}


def create_endpoint(tenant: TenantRef, order: EndpointOrder) -> tuple[WebhookEndpoint, str]:
    """A new endpoint, and its secret, which is not told again.

    Raises InvalidSpeech for a URL that is not allowed, and TooManyEndpoints.
    """
    check_url(order.url or "")
    secret = new_secret()
    with transaction.atomic():
        Tenant.objects.select_for_update().get(id=tenant.id)  # of two who add the last one, one comes second
        if WebhookEndpoint.objects.filter(tenant_id=tenant.id).count() >= MOST_ENDPOINTS:
            raise TooManyEndpoints(params={"most": MOST_ENDPOINTS})
        row = WebhookEndpoint.objects.create(tenant_id=tenant.id, secrets=[_sealed(secret)], **order.columns)
    return row, secret


@transaction.atomic
def change_endpoint(endpoint: WebhookEndpoint, order: EndpointOrder) -> WebhookEndpoint:
    """At a new URL what is still to be sent to the old one follows, and its failures are forgotten.

    Raises InvalidSpeech for a URL that is not allowed, and NotFound when it was deleted meanwhile.
    """
    if order.url is not None:
        check_url(order.url)
    row, columns = _locked(endpoint), order.columns
    if order.url is not None and order.url != row.url:
        columns["failing_since"] = None
        # Where each goes is looked up again when it is sent; until then its row says so, too.
        WebhookDelivery.objects.filter(endpoint=row, state__in=OPEN, event__url="").update(url=order.url)
    return _changed(row, **columns)


def delete_endpoint(endpoint: WebhookEndpoint) -> None:
    """With its deliveries, a portion after the other. Events that were for it alone are sent to nobody.

    Raises NotFound when it was deleted meanwhile. Of a deletion that is cut short a disabled endpoint is left.
    """
    disable_endpoint(endpoint)
    for tries_left in reversed(range(DELETED_WITHIN)):
        while _delete_deliveries(endpoint):
            pass
        try:
            WebhookEndpoint.objects.filter(id=endpoint.id).delete()
            break
        except (IntegrityError, OperationalError):
            # What names it was noted while it was being deleted, by somebody whose transaction it waited for.
            if not tries_left:
                raise


@transaction.atomic
def _delete_deliveries(endpoint: WebhookEndpoint) -> int:
    """Some of them. Locked first: the try that is noted of one just now is deleted with it."""
    rows = WebhookDelivery.objects.select_for_update().filter(endpoint_id=endpoint.id).order_by()
    ids = list(rows.values_list("id", flat=True)[:DELETED_AT_ONCE])
    WebhookDelivery.objects.filter(id__in=ids).delete()
    return len(ids)


@transaction.atomic
def rotate_secret(endpoint: WebhookEndpoint, *, overlap: float) -> tuple[WebhookEndpoint, str]:
    """A new secret, which is not told again. No earlier one signs for longer than `overlap` seconds from now.

    Raises TooManySecrets, and NotFound when the endpoint was deleted meanwhile.
    """
    row, now, secret = _locked(endpoint), database_now(), new_secret()
    ends = (now + timedelta(seconds=overlap)).isoformat()
    signing = row.signing_secrets(now) if overlap else []
    earlier = [{**kept, "until": min(kept["until"] or ends, ends)} for kept in signing]
    if len(earlier) >= MOST_SECRETS:
        raise TooManySecrets(params={"most": MOST_SECRETS})
    return _changed(row, secrets=[_sealed(secret), *earlier]), secret


@transaction.atomic
def disable_endpoint(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """Send nothing more there. What waited is canceled; what is being sent is not called back.

    Raises NotFound when it was deleted meanwhile.
    """
    row = _locked(endpoint)
    if row.status == Status.ENABLED:
        disabled = {"status": Status.DISABLED, "disabled_reason": Reason.BY_HAND, "disabled_at": database_now()}
        row = _changed(row, **disabled)
    cancel_open([row.id])
    return row


@transaction.atomic
def enable_endpoint(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """Send there again what happens from now on; its failures are forgotten. Raises NotFound as above."""
    row = _locked(endpoint)
    if row.status == Status.ENABLED:
        return row
    enabled = {"status": Status.ENABLED, "disabled_reason": Reason.NONE, "disabled_at": None, "failing_since": None}
    return _changed(row, **enabled)


@transaction.atomic
def send_test(endpoint: WebhookEndpoint) -> WebhookEvent:
    """An event for this endpoint alone, whatever types it takes. Raises EndpointDisabled, TooManyTests and NotFound."""
    row = _locked(endpoint)
    refuse_disabled(row)
    _refuse_many_tests(row)
    subject = public_id("tst", new_id())
    data = {"id": subject, "endpoint_id": row.public_id}
    note_event(TenantRef(row.tenant_id), EventType.TEST, subject, data, endpoint_id=row.id)
    return WebhookEvent.objects.get(type=EventType.TEST, subject=subject)


@transaction.atomic
def replay_delivery(delivery: WebhookDelivery) -> None:
    """Send it again, or now, with all its tries. Raises EndpointDisabled, DeliveryRunning and NotFound."""
    refuse_disabled(_locked(delivery.endpoint))
    if not replay(delivery):
        raise DeliveryRunning


@transaction.atomic
def replay_deliveries(endpoint: WebhookEndpoint, *, since: datetime) -> int:
    """Send all again that was given up since then; how many. Raises EndpointDisabled and NotFound."""
    row = _locked(endpoint)
    refuse_disabled(row)
    return replay_failed(row, since)


def _refuse_many_tests(endpoint: WebhookEndpoint) -> None:
    """Of the tenant's latest events, which an index has: all that is looked through is of this minute."""
    now = database_now()
    latest = WebhookEvent.objects.filter(tenant_id=endpoint.tenant_id, created_at__gt=now - TESTS_WITHIN)
    tests = latest.filter(type=EventType.TEST, endpoint=endpoint).order_by("created_at")
    asked_at = list(tests.values_list("created_at", flat=True))
    if len(asked_at) >= MOST_TESTS:
        raise TooManyTests(params={"most": MOST_TESTS}, retry_after=(asked_at[0] + TESTS_WITHIN - now).total_seconds())


def refuse_disabled(endpoint: WebhookEndpoint) -> None:
    if endpoint.status == Status.DISABLED:
        raise EndpointDisabled


def check_url(url: str) -> None:
    """Raises InvalidSpeech with why the URL is not allowed, and what is."""
    try:
        wiring.webhook_policy().check_url(url)
    except ForbiddenAddress as refused:
        schemes = ["https", "http"] if conf().webhook_http else ["https"]
        allowed = {"schemes": schemes, "ports": sorted(conf().webhook_ports)}
        raise refusal("url", refused.code, refused.message, allowed=allowed, **refused.params) from refused


def _sealed(secret: str) -> dict[str, Any]:
    return {"sealed": wiring.webhook_seal().seal(secret), "until": None}


def _locked(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    row = WebhookEndpoint.objects.select_for_update(no_key=True).filter(id=endpoint.id).first()
    if row is None:
        raise NotFound
    return row


def _changed(row: WebhookEndpoint, **columns: Any) -> WebhookEndpoint:
    for name, value in columns.items():
        setattr(row, name, value)
    row.save(update_fields=list(columns))
    return row
