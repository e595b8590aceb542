"""What was sent to an endpoint, every try of it, and sending again."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors, service
from synth.api.paging import NewestFirst
from synth.api.serializers import refusals
from synth.api.webhook_reading import read_since, refuse_body
from synth.api.webhook_serializers import (
    DeliveryDetailSerializer,
    DeliveryQuery,
    DeliverySerializer,
    ReplayedSerializer,
    ReplaySerializer,
)
from synth.api.webhooks import endpoint_of
from synth.codec import utc
from synth.models import DeliveryAttempt, WebhookDelivery
from synth.models.states import State
from tenants.authentication import caller_of
from tenants.errors import NotFound
from tenants.ids import public_id
from tenants.scopes import SPEECH_READ, WEBHOOKS_READ, WEBHOOKS_WRITE

# The latest ones: each replay adds a ladder of them.
MOST_ATTEMPTS = 100


class WebhookDeliveries(APIView):
    required_scopes = {"GET": WEBHOOKS_READ}
    serializer_class = DeliverySerializer
    pagination_class = NewestFirst

    @extend_schema(
        operation_id="listWebhookDeliveries",
        parameters=[DeliveryQuery],
        responses={200: DeliverySerializer(many=True), **refusals(401, 403, 404, 422)},
    )
    def get(self, request: Request, webhook_id: str) -> Response:
        """List what was and is to be sent to an endpoint, the newest first."""
        endpoint = endpoint_of(request, webhook_id)
        wanted = DeliveryQuery(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        pages = NewestFirst()
        rows = pages.paginate_queryset(selectors.deliveries(endpoint, **wanted.validated_data), request)
        return pages.get_paginated_response([_delivery_body(row) for row in rows or []])


class WebhookDeliveryDetail(APIView):
    required_scopes = {"GET": WEBHOOKS_READ}

    @extend_schema(
        operation_id="getWebhookDelivery", responses={200: DeliveryDetailSerializer, **refusals(401, 403, 404)}
    )
    def get(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        """Look at a delivery: every try with its answer, and what is sent."""
        with_urls = SPEECH_READ in caller_of(request).scopes
        return Response(_detailed(_delivery_of(request, webhook_id, delivery_id), with_urls=with_urls))


class WebhookDeliveryReplay(APIView):
    required_scopes = {"POST": WEBHOOKS_WRITE}

    @extend_schema(
        operation_id="replayWebhookDelivery",
        request=None,
        responses={202: DeliverySerializer, **refusals(400, 401, 403, 404, 409, 415, 422)},
    )
    def post(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        """Send it again, or now if it waits, under the same `webhook-id`, with all its tries."""
        row = _delivery_of(request, webhook_id, delivery_id)
        refuse_body(request.data)
        service.replay_delivery(row)
        row.refresh_from_db()
        return Response(_delivery_body(row), status=202)


class WebhookReplay(APIView):
    required_scopes = {"POST": WEBHOOKS_WRITE}

    @extend_schema(
        operation_id="replayWebhook",
        request=ReplaySerializer,
        responses={202: ReplayedSerializer, **refusals(400, 401, 403, 404, 409, 415, 422)},
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        """Send all again that was given up since a time."""
        endpoint = endpoint_of(request, webhook_id)
        replayed = service.replay_deliveries(endpoint, since=read_since(request.data))
        return Response({"object": "count", "replayed": replayed}, status=202)


def _delivery_of(request: Request, webhook_id: str, delivery_id: str) -> WebhookDelivery:
    row = selectors.delivery(endpoint_of(request, webhook_id), delivery_id)
    if row is None:
        raise NotFound
    return row


def _delivery_body(row: WebhookDelivery) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "object": "webhook_delivery",
        "event_id": row.event.public_id,
        "type": row.event.type,
        "subject": row.subject,
        "url": row.url,
        "status": row.state,
        "tries": row.tries,
        "next_at": utc(row.not_before) if row.state == State.QUEUED else None,
        "last_status": row.last_status,
        "last_error": row.last_error or None,
        "href": f"/v1/webhooks/{public_id('whk', row.endpoint_id)}/deliveries/{row.public_id}",
        "created_at": utc(row.created_at),
        "ended_at": utc(row.ended_at) if row.ended_at else None,
    }


def _detailed(row: WebhookDelivery, *, with_urls: bool) -> dict[str, Any]:
    latest = row.attempts.order_by("-number")[:MOST_ATTEMPTS]
    attempts = [_attempt_body(attempt) for attempt in reversed(list(latest))]
    return _delivery_body(row) | {"attempts": attempts, "payload": service.payload_of(row.event, with_urls=with_urls)}


def _attempt_body(row: DeliveryAttempt) -> dict[str, Any]:
    return {
        "number": row.number,
        "sent_at": utc(row.sent_at),
        "duration": round(row.seconds, 3),
        "status": row.status,
        "error": row.error or None,
        "answer": row.answer,
    }
