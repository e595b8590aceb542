"""Batches: thousands of requests in one, taken as a file, and what came of each as pages, a manifest and an archive."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import selectors, service
from synth.api.batch_archive import zipped
from synth.api.batch_presenting import batch_body, batch_path, csv_manifest, item_body, json_manifest
from synth.api.batch_reading import CsvBatch, JsonBatch, JsonlBatch, NdjsonBatch, Upload
from synth.api.batch_serializers import (
    BatchItemSerializer,
    BatchQuery,
    BatchRequestSerializer,
    BatchSerializer,
    ItemQuery,
    ManifestQuery,
    UploadQuery,
)
from synth.api.cache import actor_of
from synth.api.idempotent import IDEMPOTENCY, carried_out_once
from synth.api.paging import InOrder, NewestFirst
from synth.api.serializers import refusals
from synth.errors import NotReady
from synth.fields import Fields, refusal
from synth.models import CurationAction
from synth.models.states import OPEN
from synth.service import BatchOrder
from synth.service.batches.items import DEFAULT_FIELDS
from synth.service.idempotency import GRACE, holding
from synth.spec import MAX_CALLBACK, MAX_METADATA
from tenants.authentication import caller_of
from tenants.errors import NotFound
from tenants.errors import untranslated as _
from tenants.scopes import SPEECH_READ, SPEECH_WRITE

RETRY_AFTER = 5.0
MOST_DEFAULTS = 64 * 2**10
HEAD_FIELDS = frozenset({"callback", "metadata", "defaults"})
MEDIA_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
LISTS = {"application/x-ndjson": OpenApiTypes.STR, "application/jsonl": OpenApiTypes.STR, "text/csv": OpenApiTypes.STR}


class Batches(APIView):
    required_scopes = {"GET": SPEECH_READ, "POST": SPEECH_WRITE}
    serializer_class = BatchSerializer
    pagination_class = NewestFirst
    parser_classes = [JsonBatch, NdjsonBatch, JsonlBatch, CsvBatch]

    @extend_schema(
        operation_id="listBatches",
        parameters=[BatchQuery],
        responses={200: BatchSerializer(many=True), **refusals(401, 403, 404, 422)},
    )
    def get(self, request: Request) -> Response:
        """List batches, the newest first."""
        wanted = BatchQuery(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        pages = NewestFirst()
        rows = selectors.batches(caller_of(request).tenant, **wanted.validated_data)
        page = pages.paginate_queryset(rows, request) or []
        unfinished = service.unfinished_of(page)
        return pages.get_paginated_response([batch_body(row, unfinished.get(row.id, {})) for row in page])

    @extend_schema(
        operation_id="createBatch",
        parameters=[UploadQuery, *IDEMPOTENCY],
        request={"application/json": BatchRequestSerializer, **LISTS},
        responses={202: BatchSerializer, **refusals(400, 401, 403, 409, 413, 415, 422, 429, 503)},
    )
    def post(self, request: Request) -> Response:
        """Have up to 10,000 texts spoken, below what somebody waits for. Each is taken or refused on its own."""
        upload: Any = request.data
        if not isinstance(upload, Upload):  # no body at all
            raise refusal("items", "required", _("This field is required."))
        tenant, actor = caller_of(request).tenant, actor_of(request)

        def create(batch_id: UUID | None) -> Response:
            order = _order(upload.head(request.query_params.dict()))
            with closing(upload.items()) as items:
                batch = service.create_batch(
                    tenant, holding(items, batch_id), order=order, actor=actor, batch_id=batch_id
                )
            return Response(batch_body(batch, {}), status=202, headers={"Location": batch_path(batch)})

        with upload:
            return carried_out_once(request, create, digest=upload.digest, lease=GRACE)


class BatchDetail(APIView):
    required_scopes = {"GET": SPEECH_READ, "DELETE": SPEECH_WRITE}

    @extend_schema(operation_id="getBatch", responses={200: BatchSerializer, **refusals(401, 403, 404)})
    def get(self, request: Request, batch_id: str) -> Response:
        """Look how far a batch is."""
        return Response(_body(_batch(request, batch_id)))

    @extend_schema(operation_id="deleteBatch", responses={200: BatchSerializer, **refusals(401, 403, 404)})
    def delete(self, request: Request, batch_id: str) -> Response:
        """The same as to cancel it: what is done stays, with its results."""
        return Response(_body(service.cancel_action(_batch(request, batch_id))))


class BatchCancel(APIView):
    required_scopes = {"POST": SPEECH_WRITE}

    @extend_schema(
        operation_id="cancelBatch", request=None, responses={200: BatchSerializer, **refusals(401, 403, 404)}
    )
    def post(self, request: Request, batch_id: str) -> Response:
        """Speak no more of it. What is done stays done; cancelling what has ended changes nothing."""
        return Response(_body(service.cancel_action(_batch(request, batch_id))))


class BatchItems(APIView):
    required_scopes = {"GET": SPEECH_READ}
    serializer_class = BatchItemSerializer
    pagination_class = InOrder

    @extend_schema(
        operation_id="listBatchItems",
        parameters=[ItemQuery],
        responses={200: BatchItemSerializer(many=True), **refusals(401, 403, 404, 422)},
    )
    def get(self, request: Request, batch_id: str) -> Response:
        """List the items of a batch in order, each with how it stands and a URL of its audio."""
        batch = _batch(request, batch_id)
        wanted = ItemQuery(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        pages, tenant = InOrder(), caller_of(request).tenant
        page = pages.paginate_queryset(service.lines_of(batch, **wanted.validated_data), request) or []
        return pages.get_paginated_response([item_body(item, tenant) for item in service.results_of(tenant, page)])


class _Streamed(APIView):
    """Answers with a file, whatever `Accept` says of JSON."""

    required_scopes = {"GET": SPEECH_READ}

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:  # noqa: ARG002
        return super().perform_content_negotiation(request, force=True)


class BatchManifest(_Streamed):
    @extend_schema(
        operation_id="getBatchManifest",
        parameters=[ManifestQuery],
        responses={
            (200, "application/x-ndjson"): OpenApiTypes.STR,
            (200, "text/csv"): OpenApiTypes.STR,
            **refusals(401, 403, 404, 422),
        },
    )
    def get(self, request: Request, batch_id: str) -> HttpResponseBase:
        """All items in order, with URLs and the times of sentences; while the batch runs, as they stand now."""
        batch, tenant = _batch(request, batch_id), caller_of(request).tenant
        wanted = ManifestQuery(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        kind = wanted.validated_data["format"]
        results = service.all_results(tenant, batch)
        lines = csv_manifest(results, tenant) if kind == "csv" else json_manifest(results, tenant)
        return _file(request, lines, MEDIA_TYPES[kind], f"{batch.public_id}.{kind}")


class BatchArchive(_Streamed):
    @extend_schema(
        operation_id="getBatchAudio",
        responses={(200, "application/zip"): OpenApiTypes.BINARY, **refusals(401, 403, 404, 409)},
    )
    def get(self, request: Request, batch_id: str) -> HttpResponseBase:
        """All sounds and a manifest as one ZIP file, once the batch has ended."""
        batch, tenant = _batch(request, batch_id), caller_of(request).tenant
        if batch.state in OPEN:
            raise NotReady(_("This batch is still being spoken. Try again in a moment."), retry_after=RETRY_AFTER)
        sounds = zipped(service.all_results(tenant, batch), tenant)
        return _file(request, sounds, "application/zip", f"{batch.public_id}.zip")


def _order(head: Mapping[str, Any]) -> BatchOrder:
    fields = Fields(head)
    fields.refuse_unknown(HEAD_FIELDS)
    metadata = fields.json_object("metadata", maximum_bytes=MAX_METADATA)
    defaults = fields.json_object("defaults", maximum_bytes=MOST_DEFAULTS)
    if defaults:
        fields.inner("defaults", defaults).refuse_unknown(DEFAULT_FIELDS)
    callback = fields.text("callback", default="", maximum=MAX_CALLBACK)
    fields.raise_if_wrong()
    return BatchOrder(defaults=defaults, metadata=metadata, callback=callback)


def _batch(request: Request, text: str) -> CurationAction:
    found = selectors.batch(caller_of(request).tenant, text)
    if found is None:
        raise NotFound
    return found


def _body(batch: CurationAction) -> dict[str, Any]:
    return batch_body(batch, service.unfinished_of([batch]).get(batch.id, {}))


def _file(request: Request, content: Iterator[bytes], media_type: str, name: str) -> HttpResponseBase:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    if request.method == "HEAD":
        return HttpResponse(content_type=media_type, headers=headers)
    return StreamingHttpResponse(content, content_type=media_type, headers=headers)
