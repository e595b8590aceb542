"""Sums of a tenant's usage by day, key, voice and engine, and what is used of its quotas."""

from typing import Any

from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth import service
from synth.api.paging import ByOffset
from synth.api.savings import Period
from synth.api.serializers import Body, refusals
from synth.api.usage import UsedSerializer
from synth.codec import utc
from synth.usage import GROUPS, usage_by
from tenants.authentication import caller_of
from tenants.errors import untranslated as _
from tenants.ids import public_id
from tenants.models.usage_day import NO_KEY
from tenants.quotas import KEY, NAMES, TENANT
from tenants.scopes import SPEECH_READ

ALLOWED = _("Names of %(names)s, with commas between.")


class Grouping(Period):
    """The query string of sums."""

    def get_fields(self) -> dict[str, Any]:
        told = "What to sum up by, with commas between: day, key, engine, voice. Without it: day."
        paged = {name: serializers.CharField(required=False) for name in ("limit", "offset")}
        return {**super().get_fields(), "group_by": serializers.CharField(required=False, help_text=told), **paged}

    def to_internal_value(self, data: Any) -> Any:
        found = super().to_internal_value(data)
        names = list(dict.fromkeys(str(data.get("group_by", "day")).split(",")))
        if not set(names) <= GROUPS.keys():
            told = ErrorDetail(gettext(ALLOWED) % {"names": ", ".join(GROUPS)}, code="invalid_choice")
            raise serializers.ValidationError({"group_by": [told]})
        return found | {"names": names}


class UsedByGroupSerializer(UsedSerializer):
    day = serializers.DateField(required=False)
    key = serializers.CharField(required=False, allow_null=True, help_text="Null for what no key asked for.")
    engine = serializers.CharField(required=False, allow_blank=True)
    voice = serializers.CharField(required=False, allow_blank=True)


class UsageTotals(APIView):
    required_scopes = {"GET": SPEECH_READ}
    serializer_class = UsedByGroupSerializer
    pagination_class = ByOffset

    @extend_schema(
        operation_id="listUsageTotals",
        parameters=[Grouping],
        responses={200: UsedByGroupSerializer(many=True), **refusals(401, 403, 422)},
    )
    def get(self, request: Request) -> Response:
        """What you used, summed up by what you name. What nothing was used of is left out."""
        asked = Grouping(data=request.query_params)
        asked.is_valid(raise_exception=True)
        names = asked.validated_data["names"]
        rows = usage_by(caller_of(request).tenant, *asked.validated_data["days"], names=names)
        pages = ByOffset()
        found = pages.paginate_queryset(rows, request) or []
        return pages.get_paginated_response([_told(row, names) for row in found])


class QuotaSerializer(Body):
    object = serializers.CharField()
    quota = serializers.ChoiceField(NAMES)
    scope = serializers.ChoiceField([TENANT, KEY])
    limit = serializers.IntegerField(allow_null=True, help_text="Null: there is none.")
    used = serializers.IntegerField()
    remaining = serializers.IntegerField(allow_null=True)
    resets_at = serializers.DateTimeField(allow_null=True)


class QuotasSerializer(Body):
    object = serializers.CharField()
    quotas = QuotaSerializer(many=True)


class Quotas(APIView):
    required_scopes = {"GET": SPEECH_READ}

    @extend_schema(operation_id="getQuotas", responses={200: QuotasSerializer, **refusals(401, 403)})
    def get(self, request: Request) -> Response:
        """What is used of the quotas of your account, and of the key that asks."""
        states = service.quotas_used(caller_of(request))
        return Response({"object": "quotas", "quotas": [_quota(state) for state in states]})


def _told(row: tuple[Any, ...], names: list[str]) -> dict[str, Any]:
    said = dict(zip(names, row, strict=False))
    if "key" in said:
        said["key"] = None if said["key"] == NO_KEY else public_id("key", said["key"])
    requests, from_cache, characters, synthesised, seconds, lost = row[len(names) :]
    return said | {
        "requests": requests,
        "from_cache": from_cache,
        "characters": characters,
        "synthesised": synthesised,
        "duration": round(seconds, 3),
        "lost": lost,
    }


def _quota(state: service.QuotaUsed) -> dict[str, Any]:
    return {
        "object": "quota",
        "quota": state.quota,
        "scope": state.scope,
        "limit": state.limit or None,
        "used": state.used,
        "remaining": max(0, state.limit - state.used) if state.limit else None,
        "resets_at": utc(state.resets_at) if state.resets_at else None,
    }
