"""The usage screen: what each request used, the newest first."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from synth.admin import filters
from synth.admin.base import ReadOnlyAdmin, seconds
from synth.usage import OUTCOMES
from tenants.models import Usage


class OutcomeFilter(filters.ColumnFilter):
    title = _("outcome")
    parameter_name = "outcome"

    def lookups(self, request: object, model_admin: object) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(outcome, outcome) for outcome in OUTCOMES]


@admin.register(Usage)
class UsageAdmin(ReadOnlyAdmin):
    list_display = [
        "at", "tenant", "outcome", "state", "count", "engine", "voice", "category", "characters", "length",
        "request_id",
    ]  # fmt: skip
    list_filter = [filters.TENANT, OutcomeFilter, filters.EngineFilter]
    list_select_related = ["tenant"]
    id_prefix = "req"
    search_fields = ["=tenant__slug"]
    search_help_text = _("Request id or tenant")

    @display(description=_("duration"), ordering="duration")
    def length(self, usage: Usage) -> str:
        return seconds(usage.duration)
