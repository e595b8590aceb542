"""The rows behind the dashboard's charts: days of usage, latency, failures and phrases, and the samples."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateFilter
from unfold.decorators import display

from synth import dashboard
from synth.admin import filters
from synth.admin.amounts import number
from synth.admin.base import ReadOnlyAdmin, RowsAtOnce, excerpt, link, readable_json, seconds
from synth.admin.usage import OutcomeFilter
from synth.models import Entry, FailureDay, LatencyDay, PhraseDay, Sample
from tenants.models import UsageDay

DAY = ("day", RangeDateFilter)


class RollupAdmin(ReadOnlyAdmin):
    """Days, the newest first."""

    list_filter_submit = True


@admin.register(UsageDay)
class UsageDayAdmin(RollupAdmin):
    list_display = [
        "day",
        "tenant",
        "engine",
        "voice",
        "outcome",
        "state",
        "requests",
        "characters",
        "synthesised",
        "length",
    ]
    list_select_related = ["tenant"]
    list_filter = [filters.TENANT, OutcomeFilter, filters.EngineFilter, filters.VoiceFilter, DAY]

    @display(description=_("duration"), ordering="seconds")
    def length(self, row: UsageDay) -> str:
        return seconds(row.seconds)


@admin.register(LatencyDay)
class LatencyDayAdmin(RollupAdmin):
    tenant_path = ""
    list_display = ["day", "what_label", "at_most", "answers"]
    list_filter = [("what", ChoicesDropdownFilter), DAY]

    @display(description=_("what"), ordering="what")
    def what_label(self, row: LatencyDay) -> str:
        return row.get_what_display()

    @display(description=_("seconds, at most"), ordering="bound")
    def at_most(self, row: LatencyDay) -> str:
        return "∞" if row.bound == LatencyDay.SLOWEST else f"{row.bound:g}"


@admin.register(FailureDay)
class FailureDayAdmin(RollupAdmin):
    list_display = ["day", "tenant", "engine", "code", "failures"]
    list_select_related = ["tenant"]
    list_filter = [filters.TENANT, filters.EngineFilter, DAY]
    search_fields = ["=code"]
    search_help_text = _("Code")


class PhraseList(RowsAtOnce):
    """Finds the entries of one page's phrases."""

    def complete(self, rows: list[Any]) -> None:
        found = dashboard.entries_of({(row.tenant_id, row.key) for row in rows})
        for row in rows:
            row.entry = found.get((row.tenant_id, row.key))


@admin.register(PhraseDay)
class PhraseDayAdmin(RollupAdmin):
    list_display = ["day", "said", "tenant", "answers"]
    list_display_links = ["day"]
    list_select_related = ["tenant"]
    list_filter = [filters.TENANT, DAY]
    fields = ["day", "said", "tenant", "answers", "key"]

    def get_changelist(self, request: HttpRequest, **_kwargs: Any) -> type[PhraseList]:  # noqa: ARG002
        return PhraseList

    @display(description=_("text"))
    def said(self, row: PhraseDay) -> str:
        """Of what the catalogue still has."""
        if not hasattr(row, "entry"):
            row.entry = dashboard.entries_of({(row.tenant_id, row.key)}).get((row.tenant_id, row.key))  # type: ignore[attr-defined]
        entry: Entry | None = row.entry  # type: ignore[attr-defined]
        return link("synth_entry", entry.id, excerpt(entry.text)) if entry else row.key[:12]


@admin.register(Sample)
class SampleAdmin(RollupAdmin):
    tenant_path = ""
    list_display = ["at", "waiting", "memory", "round_trip", "webhooks_due"]
    fields = ["at", "values_json"]

    @display(description=_("sentences waiting"))
    def waiting(self, row: Sample) -> str:
        queues = row.values.get("queues") or {}
        return ", ".join(f"{name}: {queue['waiting']}" for name, queue in queues.items())

    @display(description=_("memory of Redis"))
    def memory(self, row: Sample) -> str:
        return filesizeformat(row.values["redis"]["used"]) if row.values.get("redis") else ""

    @display(description=_("round trip to Redis"))
    def round_trip(self, row: Sample) -> str:
        return f"{number(1000 * row.values['redis']['round_trip'], 2)} ms" if row.values.get("redis") else ""

    @display(description=_("webhooks that are due"))
    def webhooks_due(self, row: Sample) -> Any:
        return (row.values.get("webhooks") or {}).get("due", "")

    @display(description=_("values"))
    def values_json(self, row: Sample) -> SafeString:
        return readable_json(row.values)
