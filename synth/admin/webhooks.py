"""The screen of webhook endpoints: those that fail or were disabled first; tests, rotates, switches, sends again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminSelectWidget

from synth import service
from synth.admin import filters
from synth.admin.base import ReadOnlyAdmin, excerpt
from synth.models import WebhookDelivery, WebhookEndpoint
from synth.models.states import State
from tenants.errors import Problem

Status = WebhookEndpoint.Status
Reason = WebhookEndpoint.Reason
HEALTH = {
    "working": (_("working"), "success"),
    "failing": (_("failing"), "warning"),
    "disabled": (_("disabled"), "danger"),
}
BY_ITSELF = Q(disabled_reason__in=(Reason.GONE, Reason.FAILING))
OVERLAPS = [(0, _("at once")), (3600, _("in an hour")), (86_400, _("in a day")), (7 * 86_400, _("in seven days"))]
COUNTED = ("waiting", "failed")
PERIODS = [(1, _("the last hour")), (24, _("the last day")), (24 * 7, _("the last week")), (24 * 90, _("all"))]


class HealthFilter(DropdownFilter):
    title = _("health")
    parameter_name = "health"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [
            ("failing", _("failing")),
            ("by_itself", _("disabled because it failed")),
            ("by_hand", _("disabled by hand")),
            ("working", _("working")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        wanted = {
            "failing": Q(status=Status.ENABLED, failing_since__isnull=False),
            "by_itself": BY_ITSELF,
            "by_hand": Q(disabled_reason=Reason.BY_HAND),
            "working": Q(status=Status.ENABLED, failing_since=None),
        }
        return queryset.filter(wanted.get(self.value() or "", Q()))


class RotationForm(forms.Form):
    overlap = forms.TypedChoiceField(
        label=_("Earlier secrets end"), choices=OVERLAPS, initial=86_400, coerce=int, widget=UnfoldAdminSelectWidget
    )


class ReplayForm(BaseDialogForm):
    hours = forms.TypedChoiceField(
        label=_("Given up in"), choices=PERIODS, initial=24, coerce=int, widget=UnfoldAdminSelectWidget
    )


TESTING = {
    "title": _("Send a test?"),
    "description": _("An event of the type webhook.test goes to this endpoint, signed as all others."),
    "form_class": BaseDialogForm,
    "form_submit_text": _("Send"),
}
ENABLING = {
    "title": _("Enable this endpoint?"),
    "description": _("What happens from now on is sent there again. What was canceled can be sent again one by one."),
    "form_class": BaseDialogForm,
    "form_submit_text": _("Enable"),
}
DISABLING = {
    "title": _("Disable this endpoint?"),
    "description": _("Nothing more is sent there, and what waits for it is canceled."),
    "form_class": BaseDialogForm,
    "form_submit_text": _("Disable"),
}
REPLAYING = {
    "title": _("Send again what failed?"),
    "description": _("All that was given up, each under its own id and with all its tries."),
    "form_class": ReplayForm,
    "form_submit_text": _("Send again"),
}


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ReadOnlyAdmin):
    """Nobody edits what a tenant chose; secrets are shown once, when they are made."""

    id_prefix = "whk"
    ordering = [F("disabled_at").desc(nulls_last=True), F("failing_since").asc(nulls_last=True), "-created_at", "-id"]
    list_display = ["short_url", "health", "reason", "tenant", "failing_since", "disabled_at", "created_at"]
    list_select_related = ["tenant"]
    list_filter = [HealthFilter, filters.TENANT]
    search_fields = ["url", "description"]
    search_help_text = _("Id, URL or description")
    actions = ["test", "disable", "enable"]
    actions_detail = ["test_this", "rotate_this", "replay_this", "disable_this", "enable_this"]
    fieldsets = [
        (None, {"fields": ["public_id", "url", "description", "tenant", "event_types", "any_path", "created_at"]}),
        (
            _("Health"),
            {"fields": ["health_told", "reason", "who", "failing_since", "disabled_at", "waiting", "failed"]},
        ),
        (_("Secrets"), {"fields": ["secrets_shown"]}),
    ]

    def has_switch_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        """Whom Django's own permissions let change endpoints; the screen itself edits none."""
        return request.user.has_perm("synth.change_webhookendpoint")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        enabled = WebhookEndpoint.objects.filter(id=object_id, status=Status.ENABLED).exists()
        hidden = {"enable_this"} if enabled else {"disable_this", "test_this", "replay_this"}
        found = super().get_actions_detail(request, object_id)
        return [button for button in found if button.action_name.removeprefix("synth_webhookendpoint_") not in hidden]

    # --- What it can do -------------------------------------------------------------------------------------------

    @action(description=_("Send a test"), permissions=["switch"])
    def test(self, request: HttpRequest, endpoints: QuerySet[WebhookEndpoint]) -> None:
        for row in endpoints:
            self._test(request, row)

    @action(description=_("Disable"), permissions=["switch"])
    def disable(self, request: HttpRequest, endpoints: QuerySet[WebhookEndpoint]) -> None:
        disabled = [self._disable(request, row) for row in endpoints]
        self.message_user(request, gettext("Disabled: %d") % sum(disabled))

    @action(description=_("Enable"), permissions=["switch"])
    def enable(self, request: HttpRequest, endpoints: QuerySet[WebhookEndpoint]) -> None:
        enabled = [self._enable(request, row) for row in endpoints]
        self.message_user(request, gettext("Enabled: %d") % sum(enabled))

    @action(description=_("Send a test"), permissions=["switch"], icon="send", dialog=TESTING)
    def test_this(self, request: HttpRequest, form: BaseDialogForm, object_id: UUID) -> HttpResponse:  # noqa: ARG002
        self._test(request, WebhookEndpoint.objects.get(id=object_id))
        return _back_to(object_id)

    @action(description=_("Disable"), permissions=["switch"], icon="block", dialog=DISABLING)
    def disable_this(self, request: HttpRequest, form: BaseDialogForm, object_id: UUID) -> HttpResponse:  # noqa: ARG002
        self._disable(request, WebhookEndpoint.objects.get(id=object_id))
        return _back_to(object_id)

    @action(description=_("Enable"), permissions=["switch"], icon="check", dialog=ENABLING)
    def enable_this(self, request: HttpRequest, form: BaseDialogForm, object_id: UUID) -> HttpResponse:  # noqa: ARG002
        self._enable(request, WebhookEndpoint.objects.get(id=object_id))
        return _back_to(object_id)

    @action(description=_("Send again"), permissions=["switch"], icon="replay", dialog=REPLAYING)
    def replay_this(self, request: HttpRequest, form: ReplayForm, object_id: UUID) -> HttpResponse:
        since = timezone.now() - timedelta(hours=form.cleaned_data["hours"])
        try:
            replayed = service.replay_deliveries(WebhookEndpoint.objects.get(id=object_id), since=since)
        except Problem as problem:
            self.message_user(request, gettext(problem.detail) % problem.params, messages.ERROR)
        else:
            self.message_user(request, gettext("To be sent again: %d") % replayed)
        return _back_to(object_id)

    @action(description=_("New secret"), url_path="rotate", permissions=["switch"], icon="key")
    def rotate_this(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        """The secret is on the page that answers: it passes through no session, no cookie and no further request."""
        row = WebhookEndpoint.objects.get(id=object_id)
        form = RotationForm(request.POST or None)
        secret = ""
        if request.method == "POST" and form.is_valid():
            try:
                row, secret = service.rotate_secret(row, overlap=form.cleaned_data["overlap"])
                self.log_change(request, row, "rotated")
            except Problem as problem:
                form.add_error(None, gettext(problem.detail) % problem.params)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("New secret"),
            "endpoint": row,
            "form": form,
            "secret": secret,
            "page": reverse("admin:synth_webhookendpoint_change", args=[row.id]),
        }
        return TemplateResponse(request, "admin/synth/webhookendpoint/rotate.html", context)

    def _test(self, request: HttpRequest, row: WebhookEndpoint) -> None:
        try:
            event = service.send_test(row)
        except Problem as problem:
            self.message_user(
                request, f"{excerpt(row.url)}: {gettext(problem.detail) % problem.params}", messages.WARNING
            )
        else:
            self.message_user(request, gettext("To be sent: %s") % event.public_id)

    def _disable(self, request: HttpRequest, row: WebhookEndpoint) -> bool:
        after = service.disable_endpoint(row)
        if row.status == Status.DISABLED:
            return False
        self.log_change(request, after, _switched_off(after))
        return True

    def _enable(self, request: HttpRequest, row: WebhookEndpoint) -> bool:
        after = service.enable_endpoint(row)
        if row.status == Status.ENABLED:
            return False
        self.log_change(request, after, "enabled")
        return True

    # --- Columns --------------------------------------------------------------------------------------------------

    @display(description=_("URL"))
    def short_url(self, row: WebhookEndpoint) -> str:
        return excerpt(row.url)

    @display(description=_("health"), label={value: colour for value, (_text, colour) in HEALTH.items()})
    def health(self, row: WebhookEndpoint) -> tuple[str, Any]:
        failing = "failing" if row.failing_since else "working"
        found = "disabled" if row.status == Status.DISABLED else failing
        return found, HEALTH[found][0]

    @display(description=_("health"))
    def health_told(self, row: WebhookEndpoint) -> Any:
        return self.health(row)[1]

    @display(description=_("reason"))
    def reason(self, row: WebhookEndpoint) -> Any:
        return row.get_disabled_reason_display() if row.disabled_reason else ""

    @display(description=_("disabled by"))
    def who(self, row: WebhookEndpoint) -> str:
        if row.status != Status.DISABLED:
            return ""
        if row.disabled_reason != Reason.BY_HAND:
            return "Refrain"
        entry = (
            LogEntry.objects.select_related("user")
            .filter(
                content_type=ContentType.objects.get_for_model(WebhookEndpoint),
                object_id=str(row.id),
                change_message=_switched_off(row),
            )
            .first()
        )
        return entry.user.get_username() if entry else gettext("the tenant")

    @display(description=_("waiting deliveries"))
    def waiting(self, row: WebhookEndpoint) -> int:
        return WebhookDelivery.objects.filter(endpoint=row, state__in=(State.QUEUED, State.RUNNING)).count()

    @display(description=_("failed deliveries"))
    def failed(self, row: WebhookEndpoint) -> int:
        return WebhookDelivery.objects.filter(endpoint=row, state=State.FAILED).count()

    @display(description=_("types of events"))
    def event_types(self, row: WebhookEndpoint) -> Any:
        return ", ".join(row.events) if row.events else gettext("all")

    @display(description=_("how many sign"))
    def secrets_shown(self, row: WebhookEndpoint) -> int:
        return len(row.signing_secrets(timezone.now()))

    @display(description=_("id"))
    def public_id(self, row: WebhookEndpoint) -> str:
        return row.public_id


def _switched_off(row: WebhookEndpoint) -> str:
    """Django's log says by this who it was; a tenant that did it itself left no such line."""
    return f"disabled {row.disabled_at.isoformat() if row.disabled_at else ''}"


def _back_to(object_id: UUID) -> HttpResponse:
    return HttpResponse(headers={"HX-Redirect": reverse("admin:synth_webhookendpoint_change", args=[object_id])})
