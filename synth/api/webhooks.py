"""Webhook endpoints: made, changed, switched, tested, and their secrets rotated."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors, service
from synth.api.paging import NewestFirst
from synth.api.serializers import refusals
from synth.api.webhook_reading import read_endpoint, read_overlap, refuse_body
from synth.api.webhook_serializers import (
    EndpointChangeSerializer,
    EndpointRequestSerializer,
    EndpointSerializer,
    EndpointWithSecretSerializer,
    EventSerializer,
    RotationSerializer,
)
from synth.codec import utc
from synth.models import WebhookEndpoint, WebhookEvent
from tenants.authentication import caller_of
from tenants.errors import NotFound
from tenants.scopes import WEBHOOKS_READ, WEBHOOKS_WRITE


class Webhooks(APIView):
    required_scopes = {"GET": WEBHOOKS_READ, "POST": WEBHOOKS_WRITE}
    serializer_class = EndpointSerializer
    pagination_class = NewestFirst

    @extend_schema(
        operation_id="listWebhooks", responses={200: EndpointSerializer(many=True), **refusals(401, 403, 404)}
    )
    def get(self, request: Request) -> Response:
        """List your webhook endpoints, the newest first."""
        pages = NewestFirst()
        rows = pages.paginate_queryset(selectors.webhooks(caller_of(request).tenant), request)
        return pages.get_paginated_response([endpoint_body(row) for row in rows or []])

    @extend_schema(
        operation_id="createWebhook",
        request=EndpointRequestSerializer,
        responses={201: EndpointWithSecretSerializer, **refusals(400, 401, 403, 409, 415, 422)},
    )
    def post(self, request: Request) -> Response:
        """Say where you want to be told. The answer holds the secret that signs, this once."""
        order = read_endpoint(request.data, is_new=True)
        row, secret = service.create_endpoint(caller_of(request).tenant, order)
        body = endpoint_body(row)
        return Response(body | {"secret": secret}, status=201, headers={"Location": body["href"]})


class WebhookDetail(APIView):
    """One endpoint."""

    required_scopes = {"GET": WEBHOOKS_READ, "PATCH": WEBHOOKS_WRITE, "DELETE": WEBHOOKS_WRITE}

    @extend_schema(operation_id="getWebhook", responses={200: EndpointSerializer, **refusals(401, 403, 404)})
    def get(self, request: Request, webhook_id: str) -> Response:
        """Look at an endpoint: whether it is enabled, and since when it fails."""
        return Response(endpoint_body(endpoint_of(request, webhook_id)))

    @extend_schema(
        operation_id="changeWebhook",
        request=EndpointChangeSerializer,
        responses={200: EndpointSerializer, **refusals(400, 401, 403, 404, 415, 422)},
    )
    def patch(self, request: Request, webhook_id: str) -> Response:
        """Change what is given. What is still to be sent to the endpoint's own URL follows it to the new one."""
        row = endpoint_of(request, webhook_id)
        return Response(endpoint_body(service.change_endpoint(row, read_endpoint(request.data, is_new=False))))

    @extend_schema(operation_id="deleteWebhook", responses={204: None, **refusals(401, 403, 404)})
    def delete(self, request: Request, webhook_id: str) -> Response:
        """Delete an endpoint with its deliveries."""
        service.delete_endpoint(endpoint_of(request, webhook_id))
        return Response(status=204)


class WebhookRotation(APIView):
    required_scopes = {"POST": WEBHOOKS_WRITE}

    @extend_schema(
        operation_id="rotateWebhookSecret",
        request=RotationSerializer,
        responses={200: EndpointWithSecretSerializer, **refusals(400, 401, 403, 404, 409, 415, 422)},
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        """Get a new secret, this once. Earlier ones sign beside it for `overlap` seconds, a day without it."""
        row = endpoint_of(request, webhook_id)
        row, secret = service.rotate_secret(row, overlap=read_overlap(request.data))
        return Response(endpoint_body(row) | {"secret": secret})


class WebhookDisabling(APIView):
    required_scopes = {"POST": WEBHOOKS_WRITE}

    @extend_schema(
        operation_id="disableWebhook",
        request=None,
        responses={200: EndpointSerializer, **refusals(400, 401, 403, 404, 415, 422)},
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        """Send nothing more to this endpoint; what waits for it is canceled."""
        row = endpoint_of(request, webhook_id)
        refuse_body(request.data)
        return Response(endpoint_body(service.disable_endpoint(row)))


class WebhookEnabling(APIView):
    required_scopes = {"POST": WEBHOOKS_WRITE}

    @extend_schema(
        operation_id="enableWebhook",
        request=None,
        responses={200: EndpointSerializer, **refusals(400, 401, 403, 404, 415, 422)},
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        """Send to this endpoint again what happens from now on."""
        row = endpoint_of(request, webhook_id)
        refuse_body(request.data)
        return Response(endpoint_body(service.enable_endpoint(row)))


class WebhookTest(APIView):
    required_scopes = {"POST": WEBHOOKS_WRITE}

    @extend_schema(
        operation_id="testWebhook",
        request=None,
        responses={202: EventSerializer, **refusals(400, 401, 403, 404, 409, 415, 422, 429)},
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        """Have a `webhook.test` sent. Its delivery is found by the `event_id` that is answered."""
        row = endpoint_of(request, webhook_id)
        refuse_body(request.data)
        event = service.send_test(row)
        found = f"{_path(row)}/deliveries?event_id={event.public_id}"
        return Response(_event_body(event), status=202, headers={"Location": found})


def endpoint_of(request: Request, text: str) -> WebhookEndpoint:
    """The caller's endpoint with this public id. Raises NotFound."""
    row = selectors.webhook(caller_of(request).tenant, text)
    if row is None:
        raise NotFound
    return row


def endpoint_body(row: WebhookEndpoint) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "object": "webhook",
        "url": row.url,
        "events": row.events,
        "description": row.description,
        "any_path": row.any_path,
        "status": row.status,
        "disabled_reason": row.disabled_reason or None,
        "disabled_at": utc(row.disabled_at) if row.disabled_at else None,
        "failing_since": utc(row.failing_since) if row.failing_since else None,
        "secrets": len(row.signing_secrets(timezone.now())),
        "href": _path(row),
        "created_at": utc(row.created_at),
    }


def _path(row: WebhookEndpoint) -> str:
    return f"/v1/webhooks/{row.public_id}"


def _event_body(event: WebhookEvent) -> dict[str, Any]:
    return {
        "id": event.public_id,
        "object": "webhook_event",
        "type": event.type,
        "created_at": utc(event.created_at),
    }
