"""The screen of what was done to the cache: who purged, refreshed, pinned or warmed what, and how far it is."""

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
from synth.models import CurationAction
from synth.models.states import OPEN

FAILURES_SHOWN = 100
CONFIRMATION = {
    "title": _("Stop this action?"),
    "description": _("What is done stays done."),
    "form_class": BaseDialogForm,
    "form_submit_text": _("Stop it"),
}


@admin.register(CurationAction)
class CurationActionAdmin(ReadOnlyAdmin):
    id_prefix = "act"
    list_select_related = ["tenant"]
    list_display = ["kind_label", "state_label", "tenant_name", "progress", "failed", "who", "created_at", "ended_at"]
    list_filter = [filters.KIND, filters.STATE, filters.TENANT]
    search_fields = ["=user_name", "=request_id"]
    search_help_text = _("Id, user or request id")
    actions_detail = ["stop_this"]
    fieldsets = [
        (None, {"fields": ["public_id", "kind_label", "state", "tenant_name", "selection_json"]}),
        (_("Progress"), {"fields": ["matched", "done", "cached", "failed", "failures"]}),
        (_("Who and when"), {"fields": ["who", "request_id", "created_at", "ended_at"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without batches, which have a screen of their own."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.exclude(kind=CurationAction.Kind.BATCH)

    def has_stop_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("synth.change_entry")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        is_open = CurationAction.objects.filter(id=object_id, state__in=OPEN).exists()
        return super().get_actions_detail(request, object_id) if is_open else []

    @action(description=_("Stop"), permissions=["stop"], icon="block", dialog=CONFIRMATION)
    def stop_this(self, request: HttpRequest, form: BaseDialogForm, object_id: UUID) -> HttpResponse:  # noqa: ARG002
        row = CurationAction.objects.get(id=object_id)
        after = service.cancel_action(row)
        self.log_change(request, after, [{"changed": {"fields": ["state"]}}])
        return HttpResponse(headers={"HX-Redirect": reverse("admin:synth_curationaction_change", args=[object_id])})

    @display(description=_("kind"), ordering="kind")
    def kind_label(self, row: CurationAction) -> str:
        return row.get_kind_display()

    @display(description=_("state"), ordering="state", label=STATE_COLOURS)
    def state_label(self, row: CurationAction) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @display(description=_("tenant"), ordering="tenant__name")
    def tenant_name(self, row: CurationAction) -> str:
        return row.tenant.name if row.tenant else gettext("all tenants")

    @display(description=_("done"))
    def progress(self, row: CurationAction) -> str:
        return f"{row.done + row.cached} / {row.matched}"

    @display(description=_("who"))
    def who(self, row: CurationAction) -> str:
        if row.api_key_id:
            return link("tenants_apikey", row.api_key_id, gettext("API key"))
        return row.user_name

    @display(description=_("id"))
    def public_id(self, row: CurationAction) -> str:
        return row.public_id

    @display(description=_("selection"))
    def selection_json(self, row: CurationAction) -> SafeString:
        return readable_json(row.selection)

    @display(description=_("not made"))
    def failures(self, row: CurationAction) -> SafeString:
        """The first of them, by line."""
        lines = selectors.failed_lines(row)[:FAILURES_SHOWN]
        return format_html_join(
            "", "<div>{}: {} {}</div>", ((line.number, line.error_code, line.error_detail) for line in lines)
        )
