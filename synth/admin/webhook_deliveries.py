"""The screens of what tenants were told: events, and their deliveries with every try; sends a delivery again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.formats import localize
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm

from synth import service
from synth.admin import filters
from synth.admin.base import STATE_COLOURS, ReadOnlyAdmin, excerpt, link, readable_json, seconds
from synth.models import EventType, WebhookDelivery, WebhookEvent
from synth.models.states import OPEN
from tenants.errors import Problem

TRIES_SHOWN = 50
CONFIRMATION = {
    "title": _("Send this again?"),
    "description": _("Under its own id and with all its tries; at once if it waits."),
    "form_class": BaseDialogForm,
    "form_submit_text": _("Send again"),
}


class TypeFilter(DropdownFilter):
    title = _("type")
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return list(EventType.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        wanted = self.value()
        return queryset.filter(event__type=wanted) if wanted else queryset


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    id_prefix = "dlv"
    list_display = [
        "created_at", "type", "subject", "state_label", "outcome", "tries", "next", "endpoint_link", "tenant",
    ]  # fmt: skip
    list_select_related = ["tenant", "event", "endpoint"]
    list_filter = [filters.STATE, TypeFilter, filters.TENANT]
    search_fields = ["=subject"]
    search_help_text = _("Id, or id of what it happened to")
    actions = ["replay"]
    actions_detail = ["replay_this"]
    fieldsets = [
        (None, {"fields": ["public_id", "state", "event_link", "subject", "endpoint_link", "url", "tenant"]}),
        (_("Tries"), {"fields": ["tries", "next_told", "outcome", "attempts_table", "created_at", "ended_at"]}),
        (_("Payload"), {"fields": ["payload"]}),
    ]

    def has_replay_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("synth.change_webhookdelivery")

    @action(description=_("Send again"), permissions=["replay"])
    def replay(self, request: HttpRequest, deliveries: QuerySet[WebhookDelivery]) -> None:
        self._replay(request, deliveries.select_related("endpoint"))

    @action(description=_("Send again"), permissions=["replay"], icon="replay", dialog=CONFIRMATION)
    def replay_this(self, request: HttpRequest, form: BaseDialogForm, object_id: UUID) -> HttpResponse:  # noqa: ARG002
        self._replay(request, WebhookDelivery.objects.filter(id=object_id).select_related("endpoint"))
        return HttpResponse(headers={"HX-Redirect": reverse("admin:synth_webhookdelivery_change", args=[object_id])})

    def _replay(self, request: HttpRequest, deliveries: Iterable[WebhookDelivery]) -> None:
        replayed = 0
        for row in deliveries:
            try:
                service.replay_delivery(row)
            except Problem as problem:
                self.message_user(
                    request, f"{row.public_id}: {gettext(problem.detail) % problem.params}", messages.WARNING
                )
            else:
                replayed += 1
                self.log_change(request, row, "replayed")
        self.message_user(request, gettext("To be sent again: %d") % replayed)

    @display(description=_("state"), ordering="state", label=STATE_COLOURS)
    def state_label(self, row: WebhookDelivery) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @display(description=_("type"))
    def type(self, row: WebhookDelivery) -> str:
        return row.event.type

    @display(description=_("last answer"))
    def outcome(self, row: WebhookDelivery) -> str:
        return str(row.last_status or row.last_error)

    @display(description=_("next"))
    def next(self, row: WebhookDelivery) -> Any:
        return row.not_before if row.state in OPEN else None

    @display(description=_("next"))
    def next_told(self, row: WebhookDelivery) -> str:
        return localize(localtime(row.not_before)) if row.state in OPEN else ""

    @display(description=_("endpoint"))
    def endpoint_link(self, row: WebhookDelivery) -> SafeString:
        return link("synth_webhookendpoint", row.endpoint_id, excerpt(row.endpoint.url))

    @display(description=_("event"))
    def event_link(self, row: WebhookDelivery) -> SafeString:
        return link("synth_webhookevent", row.event_id, f"{row.event.type} {row.event.public_id}")

    @display(description=_("tries"))
    def attempts_table(self, row: WebhookDelivery) -> SafeString:
        """The latest first."""
        tries = row.attempts.order_by("-number")[:TRIES_SHOWN]
        return format_html_join(
            "",
            '<div>{}: {}, {}, {}</div><div class="refrain-text">{}</div>',
            (
                (one.number, one.sent_at.isoformat(timespec="seconds"), one.status or one.error, seconds(one.seconds),
                 one.answer)
                for one in tries
            ),
        )  # fmt: skip

    @display(description=_("payload"))
    def payload(self, row: WebhookDelivery) -> SafeString:
        return readable_json(service.payload_of(row.event))

    @display(description=_("id"))
    def public_id(self, row: WebhookDelivery) -> str:
        return row.public_id


@admin.register(WebhookEvent)
class WebhookEventAdmin(ReadOnlyAdmin):
    id_prefix = "evt"
    list_display = ["created_at", "type", "subject", "tenant", "routed"]
    list_select_related = ["tenant"]
    list_filter = [("type", ChoicesDropdownFilter), filters.TENANT]
    search_fields = ["=subject"]
    search_help_text = _("Id, or id of what it happened to")
    fields = ["public_id", "type", "subject", "tenant", "created_at", "routed", "deliveries_list", "data_json"]

    @display(description=_("deliveries"))
    def deliveries_list(self, row: WebhookEvent) -> SafeString:
        found = row.deliveries.select_related("endpoint").order_by("id")[:TRIES_SHOWN]
        return format_html_join(
            "",
            "<div>{} {}</div>",
            ((link("synth_webhookdelivery", one.id, excerpt(one.url)), one.get_state_display()) for one in found),
        )

    @display(description=_("data"))
    def data_json(self, row: WebhookEvent) -> SafeString:
        return readable_json(row.data)

    @display(description=_("id"))
    def public_id(self, row: WebhookEvent) -> str:
        return row.public_id
