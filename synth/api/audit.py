"""`/v1/audit`: what was done by a tenant's keys, and to what is its own, the newest first; and the same as a file."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth.api.paging import NewestFirst
from synth.api.serializers import Body, QueryString, refusals
from tenants.audit.events import ACTORS
from tenants.audit.reading import FORMATS, audit, exported, members
from tenants.authentication import caller_of
from tenants.models import AuditEvent
from tenants.scopes import AUDIT_READ


class LatestFirst(NewestFirst):
    ordering = ("-at", "-id")


class AuditFilter(QueryString):
    """The query string of the audit."""

    actor_kind = serializers.ChoiceField(ACTORS, required=False)
    actor_id = serializers.CharField(required=False, max_length=64)
    action = serializers.CharField(required=False, max_length=160)
    target = serializers.CharField(required=False, max_length=200)
    outcome = serializers.CharField(required=False, max_length=64)
    request_id = serializers.CharField(required=False, max_length=64)
    # With four bytes a character, escaped, it still fits into the line that a request begins with.
    text = serializers.CharField(required=False, max_length=2_000, help_text="Also where a hash of it is kept.")
    after = serializers.DateTimeField(required=False)
    before = serializers.DateTimeField(required=False)


class AuditExportFilter(AuditFilter):
    format = serializers.ChoiceField(sorted(FORMATS), required=False, default="jsonl")


class AuditEventSerializer(Body):
    object = serializers.CharField()
    id = serializers.CharField()
    sequence = serializers.IntegerField()
    at = serializers.DateTimeField()
    actor_kind = serializers.ChoiceField(ACTORS)
    actor_id = serializers.CharField(allow_blank=True)
    actor_name = serializers.CharField(allow_blank=True)
    action = serializers.CharField()
    target = serializers.CharField(allow_blank=True, help_text="The id of what it was about.")
    status = serializers.IntegerField()
    outcome = serializers.CharField()
    cache = serializers.CharField(allow_blank=True)
    characters = serializers.IntegerField()
    count = serializers.IntegerField(help_text="1, but for a gap.")
    request_id = serializers.CharField(allow_blank=True)
    address = serializers.CharField(allow_blank=True)
    text_kind = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)
    detail = serializers.DictField(allow_null=True)
    mac = serializers.CharField()


class AuditList(APIView):
    required_scopes = {"GET": AUDIT_READ}
    serializer_class = AuditEventSerializer
    pagination_class = LatestFirst

    @extend_schema(
        operation_id="listAudit",
        parameters=[AuditFilter],
        responses={200: AuditEventSerializer(many=True), **refusals(401, 403, 404, 422)},
    )
    def get(self, request: Request) -> Response:
        """List what was asked and done, the newest first. An event is there within seconds."""
        wanted = AuditFilter(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        rows = _rows(request, wanted.validated_data)
        pages = LatestFirst()
        return pages.get_paginated_response([members(row) for row in pages.paginate_queryset(rows, request) or []])


class AuditExport(APIView):
    required_scopes = {"GET": AUDIT_READ}

    @extend_schema(
        operation_id="exportAudit",
        parameters=[AuditExportFilter],
        responses={
            (200, "application/jsonl"): OpenApiTypes.BINARY,
            (200, "text/csv"): OpenApiTypes.BINARY,
            **refusals(401, 403, 422),
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """All of it as one file, the oldest first, as JSON lines or CSV."""
        wanted = AuditExportFilter(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        asked = dict(wanted.validated_data)
        form = asked.pop("format")
        rows = _rows(request, asked).order_by("sequence")
        name = f"audit-{timezone.now():%Y%m%dT%H%M%SZ}.{form}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        if request.method == "HEAD":
            return HttpResponse(content_type=FORMATS[form], headers=headers)
        return StreamingHttpResponse(exported(rows, form), content_type=FORMATS[form], headers=headers)


def _rows(request: Request, asked: dict[str, Any]) -> QuerySet[AuditEvent]:
    target = asked.pop("target", "")
    return audit(caller_of(request).tenant, object=target, **asked)
