"""What the cache saved a tenant: engine seconds, money and energy, day by day."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from synth.api.serializers import Body, refusals
from synth.fields import MAX_UNKNOWN_TOLD
from synth.savings import MAX_DAYS, Saved, Savings, period, savings
from tenants.authentication import caller_of
from tenants.errors import untranslated as _
from tenants.scopes import SPEECH_READ

TOO_LONG = _("From the first day to the last it must be 1 to %(maximum)s days, in the years 2000 to 2999.")


class Period(Body):
    """Days in UTC, both included."""

    def get_fields(self) -> dict[str, Any]:  # `from` is a word of Python's
        return {
            "from": serializers.DateField(required=False, help_text="Without it: thirty days up to `to`."),
            "to": serializers.DateField(required=False, help_text="Without it: today."),
        }

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(data.keys() - self.fields.keys())[:MAX_UNKNOWN_TOLD]
        if unknown:
            told = ErrorDetail(gettext("There is no such field."), code="unknown_field")
            raise serializers.ValidationError({name[:64]: [told] for name in unknown})
        given: Mapping[str, date] = super().to_internal_value(data)
        days = period(given.get("from"), given.get("to"))
        if days is None:
            told = ErrorDetail(gettext(TOO_LONG) % {"maximum": MAX_DAYS}, code="out_of_range")
            raise serializers.ValidationError({"from": [told]})
        return {"days": days}


class SavedSerializer(Body):
    hits = serializers.IntegerField()
    characters = serializers.IntegerField(help_text="Of the texts of hits.")
    reused_characters = serializers.IntegerField(help_text="Of sentences that misses found stored or being made.")
    engine_seconds = serializers.FloatField(help_text="Saved.")
    engine_seconds_spent = serializers.FloatField()
    cost = serializers.FloatField(allow_null=True, help_text="Saved, in `currency`.")
    energy_kwh = serializers.FloatField(allow_null=True, help_text="Saved.")


class EngineSavedSerializer(SavedSerializer):
    engine = serializers.CharField()
    seconds_per_character = serializers.FloatField(allow_null=True)


class DaySavedSerializer(SavedSerializer):
    day = serializers.DateField()
    engines = EngineSavedSerializer(many=True)


class SavingsSerializer(Body):
    object = serializers.CharField()
    currency = serializers.CharField(allow_null=True)
    total = SavedSerializer()
    days = DaySavedSerializer(many=True)

    def get_fields(self) -> dict[str, Any]:
        days = {"from": serializers.DateField(), "to": serializers.DateField()}
        return days | super().get_fields()


class SavingsReport(APIView):
    required_scopes = {"GET": SPEECH_READ}

    @extend_schema(
        operation_id="getSavings",
        parameters=[Period],
        responses={200: SavingsSerializer, **refusals(401, 403, 422)},
    )
    def get(self, request: Request) -> Response:
        """What the cache saved you, by day and engine. An estimate from measured engine time."""
        asked = Period(data=request.query_params)
        asked.is_valid(raise_exception=True)
        first, last = asked.validated_data["days"]
        return Response(savings_body(savings(first, last, tenant=caller_of(request).tenant)))


def savings_body(report: Savings) -> dict[str, Any]:
    return {
        "object": "savings",
        "from": report.first.isoformat(),
        "to": report.last.isoformat(),
        "currency": report.currency,
        "total": _amounts(report.total),
        "days": [
            {
                "day": day.day.isoformat(),
                **_amounts(day.saved),
                "engines": [
                    {"engine": item.engine, "seconds_per_character": item.rate, **_amounts(item.saved)}
                    for item in day.engines
                ],
            }
            for day in report.days
        ],
    }


def _amounts(saved: Saved) -> dict[str, Any]:
    amounts = {item.name: _number(getattr(saved, item.name)) for item in fields(saved)}
    amounts["energy_kwh"] = amounts.pop("energy")
    return amounts


def _number(value: Decimal | int | None) -> float | int | None:
    return float(value) if isinstance(value, Decimal) else value
