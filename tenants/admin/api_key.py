"""The API keys' screen: issue one and see its token once, rename, revoke."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from tenants import service
from tenants.admin.base import LIMIT_FIELDS, LimitForm, ServiceAdmin, used_words
from tenants.keys import Kind
from tenants.models import ApiKey
from tenants.quota_use import used_in_days
from tenants.quotas import KEY, NAMES
from tenants.scopes import SCOPES, USUAL

QUOTA_FIELDS = ["max_open_jobs", *NAMES]
STATES = {"active": _("active"), "expired": _("expired"), "revoked": _("revoked")}


class IssueForm(LimitForm):
    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=[(kind.value, kind.value) for kind in Kind],
        widget=UnfoldAdminSelectWidget,
        help_text=_("Part of the token, so that people and scanners can tell keys apart. It changes no rights."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"),
        choices=[(scope, scope) for scope in SCOPES],
        initial=USUAL,
        help_text=_("With keys:write a key makes and revokes others: for the tenant's own administration alone."),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    class Meta:
        model = ApiKey
        fields = ["tenant", "name", "kind", "scopes", "expires_at", *LIMIT_FIELDS, *QUOTA_FIELDS]

    def clean_expires_at(self) -> datetime | None:
        expires_at: datetime | None = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= timezone.now():
            raise forms.ValidationError(_("The expiry lies in the past."), code="in_the_past")
        return expires_at


class ChangeForm(LimitForm):
    class Meta:
        model = ApiKey
        fields = ["name", *LIMIT_FIELDS, *QUOTA_FIELDS]


@admin.register(ApiKey)
class ApiKeyAdmin(ServiceAdmin):
    form = ChangeForm
    list_display = ["name", "hint", "tenant", "state_label", "scope_list", "expires_at", "last_used_at", "created_at"]
    list_select_related = ["tenant"]
    list_filter = ["kind", ("revoked_at", admin.EmptyFieldListFilter), "pepper"]
    search_fields = ["name", "lookup", "tenant__name", "tenant__slug"]
    autocomplete_fields = ["tenant"]
    actions = ["revoke"]
    actions_submit_line = ["revoke_this"]
    shown = ["quotas_used", "tenant", "hint", "scope_list", "state", "pepper", "made_by"]
    times = ["expires_at", "revoked_at", "last_used_at", "created_at"]

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:  # noqa: ARG002
        return ["name", *LIMIT_FIELDS, *QUOTA_FIELDS, *self.shown, *self.times] if obj else IssueForm.Meta.fields

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:  # noqa: ARG002
        return [*self.shown, *self.times] if obj else []

    def get_form(self, request: HttpRequest, obj: ApiKey | None = None, change: bool = False, **kwargs: Any) -> Any:
        if obj is None:
            kwargs["form"] = IssueForm
        return super().get_form(request, obj, change, **kwargs)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None) -> Any:
        only_save = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().add_view(request, form_url, {**(extra_context or {}), **only_save})

    def create(self, form: forms.ModelForm[ApiKey]) -> ApiKey:
        asked = form.cleaned_data
        key, token = service.issue_key(
            asked["tenant"],
            asked["name"],
            asked["scopes"],
            expires_at=asked["expires_at"],
            kind=Kind(asked["kind"]),
            rate=asked["rate_limit"],
            burst=asked["rate_burst"],
        )
        if any(asked[name] for name in QUOTA_FIELDS):
            service.limit_key_quotas(key, **{name: asked[name] for name in QUOTA_FIELDS})
        key.token = token  # type: ignore[attr-defined]  # travels with this one instance to response_add
        return key

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:  # noqa: ARG002
        """Show the token on this very page: it passes through no session, no cookie and no further request."""
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Key issued"),
            "key": obj,
            "token": obj.token,
        }
        return TemplateResponse(request, "admin/tenants/apikey/issued.html", context)

    def update(self, obj: ApiKey, form: forms.ModelForm[ApiKey]) -> None:
        asked = form.cleaned_data
        if "name" in form.changed_data:
            service.rename_key(obj, asked["name"])
        if set(LIMIT_FIELDS) & set(form.changed_data):
            service.limit_key(obj, rate=asked["rate_limit"], burst=asked["rate_burst"])
        if set(QUOTA_FIELDS) & set(form.changed_data):
            service.limit_key_quotas(obj, **{name: asked[name] for name in QUOTA_FIELDS})

    def delete_model(self, request: HttpRequest, obj: ApiKey) -> None:  # noqa: ARG002
        service.delete_key(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:  # noqa: ARG002
        for key in queryset:
            service.delete_key(key)

    @action(description=_("Revoke"), permissions=["change"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        for key in keys:
            service.revoke_key(key)
        self.message_user(request, gettext("Revoked: %d") % len(keys))

    @action(description=_("Revoke"), permissions=["change"], icon="block")
    def revoke_this(self, request: HttpRequest, key: ApiKey) -> None:  # noqa: ARG002
        service.revoke_key(key)

    @display(description=_("state"), label={"active": "success", "expired": "warning", "revoked": "danger"})
    def state_label(self, key: ApiKey) -> tuple[str, Any]:
        state = key.state_at(timezone.now())
        return state, STATES[state]

    @display(description=_("state"))
    def state(self, key: ApiKey) -> Any:
        return self.state_label(key)[1]

    @display(description=_("used of quotas"))
    def quotas_used(self, key: ApiKey) -> str:
        return used_words(key, used_in_days(key.tenant_id, key.id, datetime.now(UTC).date()), KEY)

    @display(description=_("scopes"))
    def scope_list(self, key: ApiKey) -> str:
        return ", ".join(key.scopes)

    @display(description=_("made by the key"))
    def made_by(self, key: ApiKey) -> str:
        """Of those that a tenant made itself."""
        maker = ApiKey.objects.filter(id=key.made_by_id).first() if key.made_by_id else None
        return str(maker or "-")

    @display(description=_("begins with"), ordering="lookup")
    def hint(self, key: ApiKey) -> str:
        return f"{key.hint}_…"
