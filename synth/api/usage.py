"""What a tenant used: one row a request, and sums by day."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth.api.paging import NewestFirst
from synth.api.savings import Period
from synth.api.serializers import Body, QueryString, refusals
from synth.codec import utc
from synth.usage import OUTCOMES, DayUsed, usage, usage_by_day
from tenants.authentication import caller_of
from tenants.models import Usage
from tenants.scopes import SPEECH_READ


class LatestFirst(NewestFirst):
    ordering = ("-at", "-id")


class UsageFilter(QueryString):
    """The query string of the list of usage."""

    outcome = serializers.ChoiceField(OUTCOMES, required=False)
    after = serializers.DateTimeField(required=False)
    before = serializers.DateTimeField(required=False)


class UsageSerializer(Body):
    object = serializers.CharField()
    request_id = serializers.CharField(allow_blank=True, help_text="Empty for work behind the answers, and for a gap.")
    at = serializers.DateTimeField()
    outcome = serializers.ChoiceField(OUTCOMES)
    status = serializers.CharField()
    count = serializers.IntegerField(help_text="1, but for a gap.")
    engine = serializers.CharField(allow_blank=True)
    voice = serializers.CharField(allow_blank=True)
    language = serializers.CharField(allow_blank=True)
    category = serializers.CharField(allow_blank=True)
    characters = serializers.IntegerField()
    duration = serializers.FloatField(allow_null=True, help_text="Seconds of sound.")


class UsedSerializer(Body):
    requests = serializers.IntegerField()
    from_cache = serializers.IntegerField()
    characters = serializers.IntegerField(help_text="Of the texts of requests.")
    synthesised = serializers.IntegerField(help_text="Characters that engines spoke: charged once, whoever waits.")
    duration = serializers.FloatField(help_text="Seconds of sound.")
    lost = serializers.IntegerField(help_text="Hits of which the number alone is known.")


class DayUsedSerializer(UsedSerializer):
    day = serializers.DateField()


class UsageReportSerializer(Body):
    object = serializers.CharField()
    total = UsedSerializer()
    days = DayUsedSerializer(many=True)


class UsageList(APIView):
    required_scopes = {"GET": SPEECH_READ}
    serializer_class = UsageSerializer
    pagination_class = LatestFirst

    @extend_schema(
        operation_id="listUsage",
        parameters=[UsageFilter],
        responses={200: UsageSerializer(many=True), **refusals(401, 403, 404, 422)},
    )
    def get(self, request: Request) -> Response:
        """List what each request used, the newest first. A row is there within seconds."""
        wanted = UsageFilter(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        rows = usage(caller_of(request).tenant, **wanted.validated_data)
        pages = LatestFirst()
        return pages.get_paginated_response([_row(row) for row in pages.paginate_queryset(rows, request) or []])


class UsageDays(APIView):
    required_scopes = {"GET": SPEECH_READ}

    @extend_schema(
        operation_id="getUsageByDay",
        parameters=[Period],
        responses={200: UsageReportSerializer, **refusals(401, 403, 422)},
    )
    def get(self, request: Request) -> Response:
        """What you used by day, in UTC."""
        asked = Period(data=request.query_params)
        asked.is_valid(raise_exception=True)
        days = usage_by_day(caller_of(request).tenant, *asked.validated_data["days"])
        return Response({"object": "usage", "total": _total(days), "days": [asdict(day) for day in days]})


def _row(row: Usage) -> dict[str, Any]:
    return {
        "object": "usage",
        "request_id": row.request_id,
        "at": utc(row.at),
        "outcome": row.outcome,
        "status": row.state,
        "count": row.count,
        "engine": row.engine,
        "voice": row.voice,
        "language": row.language,
        "category": row.category,
        "characters": row.characters,
        "duration": None if row.duration is None else round(row.duration, 3),
    }


def _total(days: list[DayUsed]) -> dict[str, float]:
    sums: dict[str, float] = {
        name: sum(getattr(day, name) for day in days)
        for name in ("requests", "from_cache", "characters", "synthesised", "lost")
    }
    return sums | {"duration": round(sum(day.duration for day in days), 3)}
