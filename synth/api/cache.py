"""Curating the cache: what is stored, purges, refreshes, pins, and how far each is. Lists to warm are in `warm.py`."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors, service
from synth.api.curation_reading import read_order, selection_body
from synth.api.curation_serializers import (
    ActionQuery,
    ActionSerializer,
    CacheEntrySerializer,
    CountSerializer,
    CurationRequestSerializer,
    EntryQuery,
    FailedLineSerializer,
)
from synth.api.idempotent import IDEMPOTENCY, carried_out_once, digest_of_body
from synth.api.paging import InOrder, NewestFirst
from synth.api.serializers import refusals
from synth.codec import utc
from synth.fields import Fields
from synth.models import CurationAction, CurationLine, Entry
from synth.models.states import OPEN
from synth.service import Actor, EntryFilter
from synth.stored import audio_members, of_entry
from tenants.authentication import caller_of
from tenants.context import request_id
from tenants.errors import NotFound
from tenants.ids import public_id
from tenants.scopes import CACHE_READ, CACHE_WRITE

Kind = CurationAction.Kind


class CacheEntries(APIView):
    required_scopes = {"GET": CACHE_READ}
    serializer_class = CacheEntrySerializer
    pagination_class = NewestFirst

    @extend_schema(
        operation_id="listCacheEntries",
        parameters=[EntryQuery],
        responses={200: CacheEntrySerializer(many=True), **refusals(401, 403, 404, 409, 422)},
    )
    def get(self, request: Request) -> Response:
        """List what the cache holds, the newest first: renditions, and the sentences that they are made of."""
        wanted = EntryQuery(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        chosen = EntryFilter(**wanted.validated_data)
        if chosen.text_contains:
            service.refuse_with_own_key(caller_of(request).tenant)
        rows = selectors.entries(caller_of(request).tenant, chosen.conditions)
        pages = NewestFirst()
        return pages.get_paginated_response([_entry_body(row) for row in pages.paginate_queryset(rows, request) or []])


class _Curate(APIView):
    """One kind of action on entries, by ids or by filter."""

    kind: str
    required_scopes = {"POST": CACHE_WRITE}
    serializer_class = ActionSerializer

    def answer(self, request: Request) -> Response:
        return carried_out_once(
            request, lambda action_id: self._curate(request, action_id), digest=lambda: digest_of_body(request)
        )

    def _curate(self, request: Request, action_id: UUID | None) -> Response:
        tenant = caller_of(request).tenant
        fields = Fields(request.data)
        selection, expected, dry_run = read_order(fields)
        if dry_run:
            matched = service.count_matching(self.kind, selection, tenant=tenant)
            return Response({"object": "count", "kind": self.kind, "matched": matched})
        action = service.curate(
            self.kind, selection, tenant=tenant, actor=actor_of(request), expected=expected, action_id=action_id
        )
        return action_response(action)


def _curation(operation_id: str) -> Any:
    return extend_schema(
        operation_id=operation_id,
        parameters=IDEMPOTENCY,
        request=CurationRequestSerializer,
        responses={
            200: ActionSerializer,
            202: ActionSerializer,
            (200, "application/json; dry_run"): CountSerializer,
            **refusals(400, 401, 403, 404, 409, 413, 415, 422),
        },
    )


class Purges(_Curate):
    kind = Kind.PURGE

    @_curation("purge")
    def post(self, request: Request) -> Response:
        """Take sounds out of the cache, renditions with their sentences. URLs already given out go on working."""
        return self.answer(request)


class Refreshes(_Curate):
    kind = Kind.REFRESH

    @_curation("refresh")
    def post(self, request: Request) -> Response:
        """Make renditions anew; each is served as it was until its new sound passed the check."""
        return self.answer(request)


class Pins(_Curate):
    kind = Kind.PIN

    @_curation("pin")
    def post(self, request: Request) -> Response:
        """Keep sounds for good: they never expire."""
        return self.answer(request)


class Unpins(_Curate):
    kind = Kind.UNPIN

    @_curation("unpin")
    def post(self, request: Request) -> Response:
        """Let sounds expire again."""
        return self.answer(request)


class CacheActions(APIView):
    required_scopes = {"GET": CACHE_READ}
    serializer_class = ActionSerializer
    pagination_class = NewestFirst

    @extend_schema(
        operation_id="listCacheActions",
        parameters=[ActionQuery],
        responses={200: ActionSerializer(many=True), **refusals(401, 403, 404, 422)},
    )
    def get(self, request: Request) -> Response:
        """List what was done to the cache, the newest first."""
        wanted = ActionQuery(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        rows = selectors.actions(caller_of(request).tenant, **wanted.validated_data)
        pages = NewestFirst()
        return pages.get_paginated_response([action_body(row) for row in pages.paginate_queryset(rows, request) or []])


class CacheActionDetail(APIView):
    required_scopes = {"GET": CACHE_READ, "DELETE": CACHE_WRITE}

    @extend_schema(operation_id="getCacheAction", responses={200: ActionSerializer, **refusals(401, 403, 404)})
    def get(self, request: Request, action_id: str) -> Response:
        """Look how far an action is."""
        return Response(action_body(_action(request, action_id)))

    @extend_schema(operation_id="cancelCacheAction", responses={200: ActionSerializer, **refusals(401, 403, 404)})
    def delete(self, request: Request, action_id: str) -> Response:
        """Do no more of it. What is done stays done; cancelling what has ended changes nothing."""
        return Response(action_body(service.cancel_action(_action(request, action_id))))


class CacheActionFailures(APIView):
    required_scopes = {"GET": CACHE_READ}
    serializer_class = FailedLineSerializer
    pagination_class = InOrder

    @extend_schema(
        operation_id="listCacheActionFailures",
        responses={200: FailedLineSerializer(many=True), **refusals(401, 403, 404)},
    )
    def get(self, request: Request, action_id: str) -> Response:
        """List the lines of a warming, or the entries of a refresh, that were not made, and why."""
        rows = selectors.failed_lines(_action(request, action_id))
        pages = InOrder()
        return pages.get_paginated_response([_line_body(row) for row in pages.paginate_queryset(rows, request) or []])


def actor_of(request: Request) -> Actor:
    return Actor(api_key_id=caller_of(request).key_id, request_id=request_id() or "")


def action_response(action: CurationAction) -> Response:
    """200 for what is done, 202 for what is under way."""
    body = action_body(action)
    if action.state in OPEN:
        return Response(body, status=202, headers={"Location": body["href"]})
    return Response(body)


def action_body(action: CurationAction) -> dict[str, Any]:
    return {
        "id": action.public_id,
        "object": "cache_action",
        "kind": action.kind,
        "status": action.state,
        "href": f"/v1/cache/actions/{action.public_id}",
        "matched": action.matched,
        "done": action.done,
        "cached": action.cached,
        "failed": action.failed,
        "selection": selection_body(action),
        "request_id": action.request_id,
        "created_at": utc(action.created_at),
        "ended_at": utc(action.ended_at) if action.ended_at else None,
    }


def _action(request: Request, text: str) -> CurationAction:
    found = selectors.action(caller_of(request).tenant, text)
    if found is None:
        raise NotFound
    return found


def _entry_body(entry: Entry) -> dict[str, Any]:
    return {
        "id": public_id("ent", entry.id),
        "object": "cache_entry",
        "kind": entry.kind,
        "text": getattr(entry, "text_beginning", ""),
        "engine": entry.engine,
        "model_version": entry.model_version,
        "voice": entry.voice,
        "category": entry.category,
        "pinned": entry.pinned,
        "made_at": utc(entry.made_at),
        "audio": audio_members(of_entry(entry)),
    }


def _line_body(line: CurationLine) -> dict[str, Any]:
    return {
        "line": line.number,
        "entry_id": public_id("ent", line.entry_id) if line.entry_id else None,
        "code": line.error_code,
        "detail": line.error_detail,
    }
