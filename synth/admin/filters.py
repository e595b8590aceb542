"""Filters of the speech screens. Their choices come from engine cards and folders, never from a scan of the rows."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter, FieldTextFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter

from synth import selectors, service
from synth.audio.formats import format_names
from synth.service import EntryState

MADE_ANEW = "made_anew"
ENTRY_STATES = {
    EntryState.FRESH: _("fresh"),
    EntryState.STALE: _("served old, and made anew"),
    EntryState.EXPIRED: _("expired"),
    EntryState.PINNED: _("pinned"),
    EntryState.UNUSED: _("not used: never cached"),
    EntryState.LOST: _("lost from storage"),
}
TENANT = ("tenant", AutocompleteSelectFilter)
STATE = ("state", ChoicesDropdownFilter)
CATEGORY = ("category", FieldTextFilter)
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


class EntryStateFilter(DropdownFilter):
    """How an entry stands by the rule that applies to it now."""

    title = _("state")
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [*((state.value, name) for state, name in ENTRY_STATES.items()), (MADE_ANEW, _("made anew lately"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = self.value()
        if wanted == MADE_ANEW:
            return service.made_anew(queryset)
        if wanted not in list(EntryState):
            return queryset
        try:
            tenant_id = UUID(request.GET.get("tenant__id__exact", ""))
        except ValueError:
            tenant_id = None
        try:
            return service.in_state(queryset, EntryState(wanted), tenant_id=tenant_id)
        except service.TooManyRules:
            messages.warning(request, _("There are too many rules for this filter: choose a tenant as well."))
            return queryset.none()
