"""What the cache saved a tenant: engine seconds, money and energy, day by day."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
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
from synth.savings import Saved, Savings, savings
from tenants.authentication import caller_of
from tenants.errors import untranslated as _
from tenants.scopes import SPEECH_READ

DEFAULT_DAYS = 30
MAX_DAYS = 366
# Far enough from the ends of the calendar to count some days on and back.
CALENDAR = (date(2000, 1, 1), date(2999, 12, 31))
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
        return {"days": self._days(given.get("from"), given.get("to") or datetime.now(UTC).date())}

    def _days(self, first: date | None, last: date) -> tuple[date, date]:
        if all(CALENDAR[0] <= day <= CALENDAR[1] for day in (first or last, last)):
            first = first or last - timedelta(days=DEFAULT_DAYS - 1)
            if 0 <= (last - first).days < MAX_DAYS:
                return first, last
        told = ErrorDetail(gettext(TOO_LONG) % {"maximum": MAX_DAYS}, code="out_of_range")
        raise serializers.ValidationError({"from": [told]})


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
        period = {"from": serializers.DateField(), "to": serializers.DateField()}
        return period | super().get_fields()


class SavingsReport(APIView):
    required_scopes = {"GET": SPEECH_READ}

    @extend_schema(
        operation_id="getSavings",
        parameters=[Period],
        responses={200: SavingsSerializer, **refusals(401, 403, 422)},
    )
    def get(self, request: Request) -> Response:
        """What the cache saved you, by day and engine. An estimate from measured engine time."""
        period = Period(data=request.query_params)
        period.is_valid(raise_exception=True)
        first, last = period.validated_data["days"]
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
