"""The tenants' screen: who there is, suspended or not, with how many keys."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.validators import MaxValueValidator
from django.db.models import Count, Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from tenants import service
from tenants.admin.base import LIMIT_FIELDS, LimitForm, ServiceAdmin
from tenants.limits import MAX_WORK
from tenants.models import Tenant

AUDIT_FIELDS = ["audit_text", "audit_days"]
WORK_FIELDS = ["max_open_jobs", "max_running"]


class TenantForm(LimitForm):
    class Meta:
        model = Tenant
        fields = ["name", "slug", *LIMIT_FIELDS, *WORK_FIELDS, *AUDIT_FIELDS]
        help_texts = {
            "slug": _("Left empty for a new tenant, it is made from the name."),
            "rate_limit": _("Empty: the platform's limit. 0: no limit."),
            "rate_burst": _("Empty: those of one second."),
            "max_open_jobs": _("Requests that may wait for their speech. Empty: the platform's limit. 0: any number."),
            "audit_text": _("How the audit keeps the texts that are spoken, from now on."),
            "audit_days": _("Empty: the platform's days. 0: for good."),
            "max_running": _("By all engines together. Empty: the platform's limit. 0: any number."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = bool(self.instance.slug)
        for name in WORK_FIELDS:
            self.fields[name].validators.append(MaxValueValidator(MAX_WORK))
        self.fields["audit_text"].required = False
        self.fields["audit_days"].validators.append(MaxValueValidator(service.MAX_AUDIT_DAYS))

    def clean_audit_text(self) -> str:
        """Nothing said: as it was."""
        return str(self.cleaned_data["audit_text"] or self.instance.audit_text)


@admin.register(Tenant)
class TenantAdmin(ServiceAdmin):
    form = TenantForm
    list_display = ["name", "slug", "status_label", "keys_count", "created_at"]
    list_filter = ["status"]
    search_fields = ["name", "slug"]
    fields = ["name", "slug", *LIMIT_FIELDS, *WORK_FIELDS, *AUDIT_FIELDS, "status", "snapshot_version", "created_at"]
    readonly_fields = ["status", "snapshot_version", "created_at"]
    actions = ["suspend", "resume"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tenant]:
        unrevoked = Count("api_keys", filter=Q(api_keys__revoked_at=None))
        tenants: QuerySet[Tenant] = super().get_queryset(request)
        return tenants.annotate(keys_count=unrevoked)

    def get_fields(self, request: HttpRequest, obj: Tenant | None = None) -> list[str]:  # noqa: ARG002
        return list(self.fields) if obj else ["name", "slug", *LIMIT_FIELDS, *WORK_FIELDS, *AUDIT_FIELDS]

    def has_delete_permission(self, request: HttpRequest, obj: Tenant | None = None) -> bool:  # noqa: ARG002
        """A tenant's audio lives outside the database: deleting the row alone would orphan it. Suspend instead."""
        return False

    def create(self, form: ModelForm[Tenant]) -> Tenant:
        asked = form.cleaned_data
        tenant = service.create_tenant(
            asked["name"],
            asked["slug"] or None,
            rate=asked["rate_limit"],
            burst=asked["rate_burst"],
            max_open_jobs=asked["max_open_jobs"],
            max_running=asked["max_running"],
        )
        return service.keep_audit(tenant, text=asked["audit_text"], days=asked["audit_days"])

    def update(self, obj: Tenant, form: ModelForm[Tenant]) -> None:
        asked = form.cleaned_data
        if {"name", "slug"} & set(form.changed_data):
            service.update_tenant(obj, name=asked["name"], slug=asked["slug"])
        if set(LIMIT_FIELDS) & set(form.changed_data):
            service.limit_tenant(obj, rate=asked["rate_limit"], burst=asked["rate_burst"])
        if set(WORK_FIELDS) & set(form.changed_data):
            service.limit_work(obj, max_open_jobs=asked["max_open_jobs"], max_running=asked["max_running"])
        if any(asked[name] != form.initial[name] for name in AUDIT_FIELDS):
            service.keep_audit(obj, text=asked["audit_text"], days=asked["audit_days"])

    @display(
        description=_("status"),
        ordering="status",
        label={Tenant.Status.ACTIVE.value: "success", Tenant.Status.SUSPENDED.value: "danger"},
    )
    def status_label(self, tenant: Tenant) -> tuple[str, str]:
        return tenant.status, tenant.get_status_display()

    @display(description=_("keys"), ordering="keys_count")
    def keys_count(self, tenant: Any) -> int:
        return int(tenant.keys_count)

    @action(description=_("Suspend: refuse all their keys"), permissions=["change"])
    def suspend(self, request: HttpRequest, tenants: QuerySet[Tenant]) -> None:
        for tenant in tenants:
            service.suspend_tenant(tenant)
        self.message_user(request, gettext("Suspended: %d") % len(tenants))

    @action(description=_("Resume: accept their keys again"), permissions=["change"])
    def resume(self, request: HttpRequest, tenants: QuerySet[Tenant]) -> None:
        for tenant in tenants:
            service.resume_tenant(tenant)
        self.message_user(request, gettext("Resumed: %d") % len(tenants))
