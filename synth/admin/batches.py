"""The screen of batches: who sent how many texts, how far they are, what went wrong, and a way to stop one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm

from synth import selectors, service
from synth.admin import filters
from synth.admin.base import STATE_COLOURS, ReadOnlyAdmin, link, readable_json
from synth.models import Batch
from synth.models.states import OPEN

PROBLEMS_SHOWN = 100
COUNTED = {
    "total": _("total"),
    "refused": _("refused"),
    "succeeded": _("succeeded"),
    "cached": _("from the cache"),
    "failed": _("failed"),
    "running": _("running"),
    "waiting": _("waiting"),
    "canceled": _("canceled"),
}
CONFIRMATION = {
    "title": _("Cancel this batch?"),
    "description": _("What is done stays done, with its results."),
    "form_class": BaseDialogForm,
    "form_submit_text": _("Cancel the batch"),
}


@admin.register(Batch)
class BatchAdmin(ReadOnlyAdmin):
    id_prefix = "bat"
    list_select_related = ["tenant"]
    list_display = [
        "public_id",
        "state_label",
        "tenant_name",
        "progress",
        "refused",
        "failed",
        "created_at",
        "ended_at",
    ]
    list_filter = [filters.STATE, filters.TENANT]
    search_fields = ["=request_id"]
    search_help_text = _("Id or request id")
    actions_detail = ["cancel_this"]
    fieldsets = [
        (None, {"fields": ["public_id", "state", "tenant_name", "metadata_json", "told"]}),
        (_("Progress"), {"fields": ["counts", "problems"]}),
        (_("Who and when"), {"fields": ["who", "request_id", "created_at", "ended_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.filter(kind=Batch.Kind.BATCH)

    def has_cancel_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("synth.change_job")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        is_open = Batch.objects.filter(id=object_id, state__in=OPEN).exists()
        return super().get_actions_detail(request, object_id) if is_open else []

    @action(description=_("Cancel"), permissions=["cancel"], icon="block", dialog=CONFIRMATION)
    def cancel_this(self, request: HttpRequest, form: BaseDialogForm, object_id: UUID) -> HttpResponse:  # noqa: ARG002
        after = service.cancel_action(Batch.objects.get(id=object_id))
        self.log_change(request, after, [{"changed": {"fields": ["state"]}}])
        return HttpResponse(headers={"HX-Redirect": reverse("admin:synth_batch_change", args=[object_id])})

    @display(description=_("state"), ordering="state", label=STATE_COLOURS)
    def state_label(self, row: Batch) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @display(description=_("tenant"), ordering="tenant__name")
    def tenant_name(self, row: Batch) -> str:
        return row.tenant.name if row.tenant else ""

    @display(description=_("done"))
    def progress(self, row: Batch) -> str:
        return f"{row.done + row.cached} / {row.matched}"

    @display(description=_("items"))
    def counts(self, row: Batch) -> SafeString:
        counts = service.counts_of(row, service.unfinished_of([row]).get(row.id, {}))
        return format_html_join("", "<div>{}: {}</div>", ((COUNTED[name], counts[name]) for name in counts))

    @display(description=_("not made"))
    def problems(self, row: Batch) -> SafeString:
        """The first of them, by line."""
        lines = selectors.lines_with_problems(row)[:PROBLEMS_SHOWN]
        return format_html_join(
            "", "<div>{}: {} {}</div>", ((line.number, line.error_code, line.error_detail) for line in lines)
        )

    @display(description=_("who"))
    def who(self, row: Batch) -> str:
        return link("tenants_apikey", row.api_key_id, gettext("API key")) if row.api_key_id else row.user_name

    @display(description=_("id"))
    def public_id(self, row: Batch) -> str:
        return row.public_id

    @display(description=_("metadata"))
    def metadata_json(self, row: Batch) -> SafeString:
        return readable_json(row.metadata or {})

    @display(description=_("callback"))
    def told(self, row: Batch) -> str:
        return row.callback_url or (row.callback.url if row.callback else "")
