"""Whom a request wants told of its end: `callback`, an endpoint's id or an address that one of them vouches for."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

from synth import wiring
from synth.fields import refusal
from synth.models import WebhookEndpoint
from synth.webhooks.addresses import DEFAULT_PORTS, ForbiddenAddress
from tenants.errors import untranslated as _
from tenants.ids import parse_id
from tenants.types import TenantRef


@dataclass(frozen=True, slots=True)
class Callback:
    """The endpoint whose secrets sign and whose limits hold; `url` where it is not told at its own."""

    endpoint_id: UUID
    url: str = ""


def callback_of(tenant: TenantRef, text: str) -> Callback | None:
    """None for no callback. Raises InvalidSpeech for one that the tenant does not allow."""
    if not text:
        return None
    if text.startswith("whk_"):
        return Callback(_endpoint(tenant, text).id)
    origin = _origin(text)
    allowing = WebhookEndpoint.objects.filter(tenant_id=tenant.id, any_path=True, status=WebhookEndpoint.Status.ENABLED)
    for endpoint in allowing.order_by("created_at", "id"):
        if _origin_of(urlsplit(endpoint.url)) == origin:
            _refuse_unsendable(text)
            return Callback(endpoint.id, text)
    message = _(
        "No enabled webhook endpoint allows callbacks to other paths of %(origin)s: name an endpoint by its id."
    )
    raise refusal("callback", "callback_not_allowed", message, origin="{}://{}:{}".format(*origin))


def callback_columns(callback: Callback | None) -> dict[str, Any]:
    """What a row keeps of it. To be called in the transaction that writes the row.

    Of an endpoint that was deleted since the request was read it keeps nothing, as of one that is deleted afterwards.
    """
    if callback is None or not WebhookEndpoint.hold([callback.endpoint_id]):
        return {}
    return {"callback_id": callback.endpoint_id, "callback_url": callback.url}


def _refuse_unsendable(url: str) -> None:
    """What is refused at every try would count as failures of the endpoint that vouches for it."""
    try:
        wiring.webhook_policy().check_url(url)
    except ForbiddenAddress as refused:
        raise refusal("callback", refused.code, refused.message, **refused.params) from refused


def _endpoint(tenant: TenantRef, text: str) -> WebhookEndpoint:
    endpoint_id = parse_id("whk", text)
    found = WebhookEndpoint.objects.filter(tenant_id=tenant.id, id=endpoint_id).first() if endpoint_id else None
    if found is None:
        message = _("There is no webhook endpoint %(id)s. GET /v1/webhooks lists them.")
        raise refusal("callback", "unknown_endpoint", message, id=text)
    if found.status != WebhookEndpoint.Status.ENABLED:
        raise refusal("callback", "endpoint_disabled", _("The webhook endpoint %(id)s is disabled."), id=text)
    return found


def _origin(text: str) -> tuple[str, str, int]:
    message = _("A callback is an endpoint's id (whk_…) or an http or https URL without user, password and fragment.")
    try:
        parts = urlsplit(text)
        plain = parts.scheme in DEFAULT_PORTS and parts.hostname and not parts.fragment and "@" not in parts.netloc
        origin = _origin_of(parts) if plain and text.isprintable() and " " not in text and "\\" not in text else None
    except ValueError:
        origin = None
    if origin is None:
        raise refusal("callback", "bad_callback", message)
    return origin


def _origin_of(parts: SplitResult) -> tuple[str, str, int]:
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme]
