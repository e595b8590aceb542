"""A tenant's own API keys: made, renamed, limited, revoked. What they may do is decided in `tenants.self_service`."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth.api.key_reading import read_change, read_key
from synth.api.key_serializers import (
    KeyChangeSerializer,
    KeyQuery,
    KeyRequestSerializer,
    KeySerializer,
    KeyWithTokenSerializer,
)
from synth.api.paging import NewestFirst
from synth.api.serializers import refusals
from synth.codec import utc
from synth.conf import conf
from tenants import self_service
from tenants.authentication import caller_of
from tenants.ids import public_id
from tenants.limits import limit_of
from tenants.models import ApiKey
from tenants.scopes import KEYS_READ, KEYS_WRITE
from tenants.types import Caller


class Keys(APIView):
    required_scopes = {"GET": KEYS_READ, "POST": KEYS_WRITE}
    serializer_class = KeySerializer
    pagination_class = NewestFirst

    @extend_schema(
        operation_id="listKeys",
        parameters=[KeyQuery],
        responses={200: KeySerializer(many=True), **refusals(401, 403, 404, 422)},
    )
    def get(self, request: Request) -> Response:
        """List your API keys, the newest first, revoked ones, too."""
        query = KeyQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        caller = caller_of(request)
        pages = NewestFirst()
        rows = pages.paginate_queryset(self_service.keys_of(caller.tenant, **query.validated_data), request)
        return pages.get_paginated_response([_body(row, caller) for row in rows or []])

    @extend_schema(
        operation_id="createKey",
        request=KeyRequestSerializer,
        responses={201: KeyWithTokenSerializer, **refusals(400, 401, 403, 409, 415, 422)},
    )
    def post(self, request: Request) -> Response:
        """Make a key that may do what this one may, or less. The answer holds its token, this once."""
        caller = caller_of(request)
        row, token = self_service.make_key(caller, read_key(request.data), default=conf().default_limit)
        body = _body(row, caller)
        headers = {"Location": body["href"], "Cache-Control": "no-store"}
        return Response(body | {"token": token}, status=201, headers=headers)


class KeyDetail(APIView):
    """One key."""

    required_scopes = {"GET": KEYS_READ, "PATCH": KEYS_WRITE, "DELETE": KEYS_WRITE}

    @extend_schema(operation_id="getKey", responses={200: KeySerializer, **refusals(401, 403, 404)})
    def get(self, request: Request, key_id: str) -> Response:
        """Look at a key: whether it is usable, and when it was last used."""
        caller = caller_of(request)
        return Response(_body(self_service.key_of(caller.tenant, key_id), caller))

    @extend_schema(
        operation_id="changeKey",
        request=KeyChangeSerializer,
        responses={200: KeySerializer, **refusals(400, 401, 403, 404, 415, 422)},
    )
    def patch(self, request: Request, key_id: str) -> Response:
        """Rename a key, or limit it; both act on its next request."""
        caller = caller_of(request)
        self_service.key_of(caller.tenant, key_id)  # another's is not there, whatever the body says
        change = read_change(request.data)
        return Response(_body(self_service.change_key(caller, key_id, change, default=conf().default_limit), caller))

    @extend_schema(operation_id="revokeKey", responses={200: KeySerializer, **refusals(401, 403, 404, 409)})
    def delete(self, request: Request, key_id: str) -> Response:
        """Refuse a key from its next request on, for good. It stays in the list."""
        caller = caller_of(request)
        return Response(_body(self_service.revoke_key(caller, key_id), caller))


def _body(row: ApiKey, caller: Caller) -> dict[str, Any]:
    key_id = row.public_id
    limit = limit_of(row.rate_limit, row.rate_burst)
    return {
        "id": key_id,
        "object": "key",
        "name": row.name,
        "hint": row.hint,
        "kind": row.kind,
        "scopes": row.scopes,
        "status": row.state_at(timezone.now()),
        "current": row.id == caller.key_id,
        "rate_limit": limit.rate if limit else None,
        "rate_burst": limit.burst if limit else None,
        "made_by": public_id("key", row.made_by_id) if row.made_by_id else None,
        "expires_at": utc(row.expires_at) if row.expires_at else None,
        "revoked_at": utc(row.revoked_at) if row.revoked_at else None,
        "last_used_at": utc(row.last_used_at) if row.last_used_at else None,
        "href": f"/v1/keys/{key_id}",
        "created_at": utc(row.created_at),
    }
