"""A tenant's own TTL rules, within the bounds of its operator, and the operator's rules for it, to look at."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors, service
from synth.api.idempotent import IDEMPOTENCY, carried_out_once, digest_of_body
from synth.api.paging import ByOffset
from synth.api.policy_reading import FIELDS, read_policy
from synth.api.policy_serializers import PolicyRequestSerializer, PolicySerializer
from synth.api.serializers import refusals
from synth.codec import utc
from synth.models import Policy
from tenants.authentication import caller_of
from tenants.errors import NotFound
from tenants.scopes import CACHE_READ, CACHE_WRITE


class Policies(APIView):
    required_scopes = {"GET": CACHE_READ, "POST": CACHE_WRITE}
    serializer_class = PolicySerializer
    pagination_class = ByOffset

    @extend_schema(operation_id="listPolicies", responses={200: PolicySerializer(many=True), **refusals(401, 403)})
    def get(self, request: Request) -> Response:
        """List the TTL rules that are yours alone, in the order in which they are tried."""
        pages = ByOffset()
        rows = pages.paginate_queryset(selectors.own_policies(caller_of(request).tenant), request)
        return pages.get_paginated_response([_body(row) for row in rows or []])

    @extend_schema(
        operation_id="createPolicy",
        parameters=IDEMPOTENCY,
        request=PolicyRequestSerializer,
        responses={201: PolicySerializer, **refusals(400, 401, 403, 409, 415, 422)},
    )
    def post(self, request: Request) -> Response:
        """Make a TTL rule; it acts on your next request, on what is stored already, too."""

        def create(policy_id: UUID | None) -> Response:
            columns = read_policy(request.data)
            body = _body(service.make_own_policy(caller_of(request).tenant, columns, policy_id=policy_id))
            return Response(body, status=201, headers={"Location": body["href"]})

        return carried_out_once(request, create, digest=lambda: digest_of_body(request))


class PolicyDetail(APIView):
    """One TTL rule."""

    required_scopes = {"GET": CACHE_READ, "PUT": CACHE_WRITE, "DELETE": CACHE_WRITE}

    @extend_schema(operation_id="getPolicy", responses={200: PolicySerializer, **refusals(401, 403, 404)})
    def get(self, request: Request, policy_id: str) -> Response:
        """Look at a TTL rule of yours."""
        return Response(_body(_policy(request, policy_id)))

    @extend_schema(
        operation_id="replacePolicy",
        request=PolicyRequestSerializer,
        responses={200: PolicySerializer, **refusals(400, 401, 403, 404, 415, 422)},
    )
    def put(self, request: Request, policy_id: str) -> Response:
        """Say anew all that the rule is: what is not given has its default again."""
        row = _policy(request, policy_id)
        return Response(_body(service.replace_own_policy(caller_of(request).tenant, row, read_policy(request.data))))

    @extend_schema(operation_id="deletePolicy", responses={204: None, **refusals(401, 403, 404)})
    def delete(self, request: Request, policy_id: str) -> Response:
        """Delete a TTL rule of yours."""
        service.delete_own_policy(caller_of(request).tenant, _policy(request, policy_id))
        return Response(status=204)


def _policy(request: Request, text: str) -> Policy:
    """The caller's rule with this public id. Raises NotFound."""
    row = selectors.own_policy(caller_of(request).tenant, text)
    if row is None:
        raise NotFound
    return row


def _body(row: Policy) -> dict[str, Any]:
    said = {name: getattr(row, name) for name in sorted(FIELDS)}
    return {
        "id": row.public_id,
        "object": "policy",
        **said,
        "note": row.note if row.by_tenant else "",  # the operator's is for operators
        "editable": row.by_tenant,
        "href": f"/v1/policies/{row.public_id}",
        "created_at": utc(row.created_at),
        "updated_at": utc(row.updated_at),
    }
