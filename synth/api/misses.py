"""Why requests were no hits: a tenant's misses by day and reason, what near misses differed in, and examples."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import missed
from synth.api.paging import NewestFirst
from synth.api.savings import Period
from synth.api.serializers import Body, QueryString, refusals
from synth.codec import utc
from synth.missed import REASONS, Missed
from synth.models import MissExample
from tenants.authentication import caller_of
from tenants.scopes import CACHE_READ


class MissedSerializer(Body):
    misses = serializers.IntegerField()
    reasons = serializers.DictField(child=serializers.IntegerField(), help_text="Every reason, with its count.")
    parameters = serializers.DictField(
        child=serializers.IntegerField(), help_text="How often each parameter kept a near miss from being a hit."
    )


class DayMissedSerializer(MissedSerializer):
    day = serializers.DateField()


class MissesSerializer(Body):
    object = serializers.CharField()
    total = MissedSerializer()
    days = DayMissedSerializer(many=True)

    def get_fields(self) -> dict[str, Any]:
        period = {"from": serializers.DateField(), "to": serializers.DateField()}
        return period | super().get_fields()


class DifferenceSerializer(Body):
    parameter = serializers.CharField()
    value = serializers.JSONField(allow_null=True, help_text="Yours; null where it is long, a text, or was not sent.")
    other = serializers.JSONField(allow_null=True, help_text="That of the nearest.")


class MissExampleSerializer(Body):
    object = serializers.CharField()
    reason = serializers.ChoiceField(REASONS)
    created_at = serializers.DateTimeField()
    job_id = serializers.CharField()
    request_id = serializers.CharField()
    engine = serializers.CharField()
    voice = serializers.CharField()
    category = serializers.CharField()
    text = serializers.CharField(allow_null=True, help_text="Its beginning.")
    differences = DifferenceSerializer(many=True)
    nearest_text = serializers.CharField(allow_null=True)


class ExampleQuery(QueryString):
    """The query string of the list of examples."""

    reason = serializers.ChoiceField(REASONS, required=False)


class MissReport(APIView):
    required_scopes = {"GET": CACHE_READ}

    @extend_schema(
        operation_id="getMisses", parameters=[Period], responses={200: MissesSerializer, **refusals(401, 403, 422)}
    )
    def get(self, request: Request) -> Response:
        """Why your requests were no hits, by day and reason."""
        period = Period(data=request.query_params)
        period.is_valid(raise_exception=True)
        first, last = period.validated_data["days"]
        days = missed.by_day(caller_of(request).tenant, first, last)
        return Response(
            {
                "object": "misses",
                "from": first.isoformat(),
                "to": last.isoformat(),
                "total": _amounts(missed.total(days.values())),
                "days": [{"day": day.isoformat(), **_amounts(found)} for day, found in days.items()],
            }
        )


class MissExamples(APIView):
    required_scopes = {"GET": CACHE_READ}
    serializer_class = MissExampleSerializer
    pagination_class = NewestFirst

    @extend_schema(
        operation_id="listMissExamples",
        parameters=[ExampleQuery],
        responses={200: MissExampleSerializer(many=True), **refusals(401, 403, 404, 422)},
    )
    def get(self, request: Request) -> Response:
        """List your last misses, the newest first; of each reason so many are kept."""
        wanted = ExampleQuery(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        rows = missed.examples(caller_of(request).tenant, **wanted.validated_data)
        pages = NewestFirst()
        found = pages.paginate_queryset(rows, request) or []
        return pages.get_paginated_response([_example_body(row) for row in found])


def _amounts(found: Missed) -> dict[str, Any]:
    return {
        "misses": found.misses,
        "reasons": {reason: found.reasons[reason] for reason in REASONS},
        "parameters": dict(found.parameters.most_common()),
    }


def _example_body(row: MissExample) -> dict[str, Any]:
    return {
        "object": "miss",
        "reason": row.reason,
        "created_at": utc(row.created_at),
        "job_id": row.job.public_id,
        "request_id": row.job.request_id,
        "engine": row.job.engine,
        "voice": row.job.voice,
        "category": row.job.category,
        "text": getattr(row, "text", None),
        "differences": row.differences,
        "nearest_text": getattr(row, "nearest_text", None),
    }
