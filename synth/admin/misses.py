"""The screens of misses: by tenant and day, and the last examples of each reason with what differed."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from synth import missed
from synth.admin import filters
from synth.admin.base import ReadOnlyAdmin, excerpt, link
from synth.models import MissDay, MissExample, MissParameter

NAMES = {field.name: field.verbose_name for field in MissDay._meta.fields if field.name in missed.REASONS}  # noqa: SLF001
# Of what a tenant may want to change, of what is the operator's, and of what is nobody's fault.
COLOURS = dict.fromkeys(missed.REASONS, "") | {
    "near_miss": "warning",
    "expired": "info",
    "evicted": "danger",
    "purged": "info",
    "model_changed": "info",
    "degraded": "danger",
    "unknown": "danger",
}
PARAMETERS = {"text": pgettext_lazy("what differed", "numbers in the text")}


class ReasonFilter(filters.ColumnFilter):
    title = _("reason")
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return list(NAMES.items())


@admin.register(MissDay)
class MissDayAdmin(ReadOnlyAdmin):
    list_display = ["day", "tenant", "misses", *missed.REASONS]
    list_select_related = ["tenant"]
    list_filter = [filters.TENANT]
    search_fields = ["=tenant__slug"]
    search_help_text = _("Tenant")
    fieldsets = [
        (None, {"fields": ["day", "tenant", "misses", "examples"]}),
        (_("Reasons"), {"fields": [*missed.REASONS]}),
        (_("What near misses differed in"), {"fields": ["parameters"]}),
    ]

    @display(description=_("misses"))
    def misses(self, row: MissDay) -> int:
        return sum(getattr(row, reason) for reason in missed.REASONS)

    @display(description=_("parameters"))
    def parameters(self, row: MissDay) -> str:
        found = MissParameter.objects.filter(tenant_id=row.tenant_id, day=row.day).order_by("-misses", "parameter")
        rows = ((parameter_name(item.parameter), item.misses) for item in found)
        return format_html_join("", "<div>{}: {}</div>", rows)

    @display(description=_("examples"))
    def examples(self, row: MissDay) -> SafeString:
        address = reverse("admin:synth_missexample_changelist")
        query = urlencode({"tenant__id__exact": str(row.tenant_id)})
        return format_html('<a class="refrain-link" href="{}?{}">{}</a>', address, query, gettext("The last ones"))


@admin.register(MissExample)
class MissExampleAdmin(ReadOnlyAdmin):
    list_display = [
        "created_at", "reason_label", "text_excerpt", "differed", "nearest_excerpt", "tenant", "job_link", "request_id",
    ]  # fmt: skip
    list_filter = [filters.TENANT, ReasonFilter]
    search_fields = ["=job__request_id"]
    search_help_text = _("Request id")
    fieldsets = [
        (None, {"fields": ["created_at", "reason_told", "tenant", "job_link", "request_id"]}),
        (_("What came close"), {"fields": ["text_excerpt", "nearest_link", "differed"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[MissExample]:
        rows: QuerySet[MissExample] = super().get_queryset(request)
        return missed.with_texts(rows.select_related("tenant"))

    @display(description=_("reason"))
    def reason_told(self, row: MissExample) -> Any:
        return self.reason_label(row)[1]

    @display(description=_("reason"), label=COLOURS)
    def reason_label(self, row: MissExample) -> tuple[str, Any]:
        return row.reason, reason_name(row.reason)

    @display(description=_("text"))
    def text_excerpt(self, row: MissExample) -> str:
        return excerpt(getattr(row, "text", ""))

    @display(description=_("nearest"))
    def nearest_excerpt(self, row: MissExample) -> str:
        return excerpt(getattr(row, "nearest_text", ""))

    @display(description=_("nearest"))
    def nearest_link(self, row: MissExample) -> str:
        shown = self.nearest_excerpt(row)
        return link("synth_rendering", row.nearest_id, shown) if row.nearest_id and shown else ""

    @display(description=_("differed"))
    def differed(self, row: MissExample) -> str:
        return format_html_join("", "<div>{}</div>", ((_difference(item),) for item in row.differences))

    @display(description=_("job"))
    def job_link(self, row: MissExample) -> SafeString:
        return link("synth_job", row.job_id, row.job.public_id)

    @display(description=_("request id"))
    def request_id(self, row: MissExample) -> str:
        return row.job.request_id


def reason_name(reason: str) -> Any:
    """Empty for what is not judged yet, and for what was nobody's miss."""
    return NAMES.get(reason, "")


def parameter_name(parameter: str) -> Any:
    return PARAMETERS.get(parameter, parameter)


def _difference(item: dict[str, Any]) -> str:
    values = [item.get("value"), item.get("other")]
    if values == [None, None]:
        return str(parameter_name(item["parameter"]))
    here, there = ("-" if value is None else value for value in values)
    return f"{parameter_name(item['parameter'])}: {here} / {there}"
