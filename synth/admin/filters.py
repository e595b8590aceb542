"""Filters of the speech screens. Their choices come from engine cards and folders, never from a scan of the rows."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter

from synth import selectors
from synth.audio.formats import format_names

TENANT = ("tenant", AutocompleteSelectFilter)
STATE = ("state", ChoicesDropdownFilter)
KIND = ("kind", ChoicesDropdownFilter)


class ColumnFilter(DropdownFilter):
    """Rows whose column `parameter_name` has the chosen value."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        wanted = self.value()
        return queryset.filter(**{self.parameter_name: wanted}) if wanted else queryset


class EngineFilter(ColumnFilter):
    title = _("engine")
    parameter_name = "engine"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(status.row.name, status.row.name) for status in selectors.engines()]


class VoiceFilter(ColumnFilter):
    title = _("voice")
    parameter_name = "voice"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:  # noqa: ARG002
        names = {voice.name for card in selectors.cards() for voice in card.voices}
        return [(name, name) for name in sorted(names)]


class FormatFilter(ColumnFilter):
    title = _("format")
    parameter_name = "format"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(name, name) for name in format_names()]
