"""The tenants' screen: who there is, suspended or not, with how many keys."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db.models import Count, Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from tenants import service
from tenants.admin.base import LIMIT_FIELDS, LimitForm, ServiceAdmin, used_words
from tenants.limits import MAX_OWN_RULES, MAX_OWN_TTL, MAX_WORK
from tenants.models import Tenant
from tenants.operators import bound_to
from tenants.quota_use import used_in_days
from tenants.quotas import NAMES, TENANT
from tenants.sealing import platform_keys, set_encryption

AUDIT_FIELDS = ["audit_text", "audit_days"]
WORK_FIELDS = ["max_open_jobs", "max_running"]
QUOTA_FIELDS = list(NAMES)
RULE_FIELDS = ["max_own_rules", "max_own_ttl"]
MOST = {
    **dict.fromkeys(WORK_FIELDS, MAX_WORK),
    "max_own_rules": MAX_OWN_RULES,
    "max_own_ttl": MAX_OWN_TTL,
    "audit_days": service.MAX_AUDIT_DAYS,
}


class TenantForm(LimitForm):
    class Meta:
        model = Tenant
        fields = ["name", "slug", *LIMIT_FIELDS, *WORK_FIELDS, *QUOTA_FIELDS, *RULE_FIELDS, "encryption", *AUDIT_FIELDS]
        help_texts = {
            "slug": _("Left empty for a new tenant, it is made from the name."),
            "rate_limit": _("Empty: the platform's limit. 0: no limit."),
            "rate_burst": _("Empty: those of one second."),
            "encryption": _("Under which key its speech is kept from now on. What was made before is made anew."),
            "max_open_jobs": _("Requests that may wait for their speech. Empty: the platform's limit. 0: any number."),
            **dict.fromkeys(QUOTA_FIELDS, _("Empty: the platform's quota. 0: no quota.")),
            "max_own_rules": _("By the API, within these bounds. Empty: the platform's number. 0: none."),
            "max_own_ttl": _("A day is 86400. Empty: the platform's. 0: any, and rules that pin."),
            "audit_text": _("How the audit keeps the texts that are spoken, from now on."),
            "audit_days": _("Empty: the platform's days. 0: for good."),
            "max_running": _("By all engines together. Empty: the platform's limit. 0: any number."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slug" in self.fields:  # not where the page is only looked at
            self.fields["slug"].required = bool(self.instance.slug)
        for name in self.fields.keys() & set(MOST):
            self.fields[name].validators.append(MaxValueValidator(MOST[name]))
        for name in self.fields.keys() & {"encryption", "audit_text"}:
            self.fields[name].required = False

    def clean_audit_text(self) -> str:
        """Nothing said: as it was."""
        return str(self.cleaned_data["audit_text"] or self.instance.audit_text)

    def clean_encryption(self) -> str:
        mode = str(self.cleaned_data["encryption"] or self.instance.encryption)
        if mode != Tenant.Encryption.NONE and not platform_keys().current:
            raise ValidationError(_("Set REFRAIN_ENCRYPTION_KEYS first: without it nothing can be encrypted."))
        return mode


@admin.register(Tenant)
class TenantAdmin(ServiceAdmin):
    form = TenantForm
    list_display = ["name", "slug", "status_label", "keys_count", "created_at"]
    list_filter = ["status"]
    ordering = ["name", "id"]  # said here, since a query that counts takes none from the model
    search_fields = ["name", "slug"]
    readonly_fields = ["quotas_used", "status", "snapshot_version", "created_at"]
    fields = [*TenantForm.Meta.fields, *readonly_fields]
    actions = ["suspend", "resume"]
    tenant_path = "pk"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tenant]:
        unrevoked = Count("api_keys", filter=Q(api_keys__revoked_at=None))
        tenants: QuerySet[Tenant] = super().get_queryset(request)
        return tenants.annotate(keys_count=unrevoked)

    def get_fields(self, request: HttpRequest, obj: Tenant | None = None) -> list[str]:  # noqa: ARG002
        return list(self.fields) if obj else list(TenantForm.Meta.fields)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bound_to(request) is None and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Tenant | None = None) -> bool:
        """Limits and suspension are the platform's: an operator of one tenant looks at them."""
        return bound_to(request) is None and super().has_change_permission(request, obj)

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
        tenant = service.keep_audit(tenant, text=asked["audit_text"], days=asked["audit_days"])
        if asked["encryption"] != tenant.encryption:
            tenant = set_encryption(tenant, asked["encryption"])
        tenant = service.limit_own_rules(tenant, **{name: asked[name] for name in RULE_FIELDS})
        quotas = {name: asked[name] for name in QUOTA_FIELDS if asked[name] is not None}
        return service.limit_quotas(tenant, **quotas) if quotas else tenant

    def update(self, obj: Tenant, form: ModelForm[Tenant]) -> None:
        asked = form.cleaned_data
        if {"name", "slug"} & set(form.changed_data):
            service.update_tenant(obj, name=asked["name"], slug=asked["slug"])
        if set(LIMIT_FIELDS) & set(form.changed_data):
            service.limit_tenant(obj, rate=asked["rate_limit"], burst=asked["rate_burst"])
        if set(WORK_FIELDS) & set(form.changed_data):
            service.limit_work(obj, max_open_jobs=asked["max_open_jobs"], max_running=asked["max_running"])
        if set(QUOTA_FIELDS) & set(form.changed_data):
            service.limit_quotas(obj, **{name: asked[name] for name in QUOTA_FIELDS})
        if set(RULE_FIELDS) & set(form.changed_data):
            service.limit_own_rules(obj, **{name: asked[name] for name in RULE_FIELDS})
        if asked["encryption"] != form.initial["encryption"]:
            set_encryption(obj, asked["encryption"])
        if any(asked[name] != form.initial[name] for name in AUDIT_FIELDS):
            service.keep_audit(obj, text=asked["audit_text"], days=asked["audit_days"])

    @display(
        description=_("status"),
        ordering="status",
        label={Tenant.Status.ACTIVE.value: "success", Tenant.Status.SUSPENDED.value: "danger"},
    )
    def status_label(self, tenant: Tenant) -> tuple[str, str]:
        return tenant.status, tenant.get_status_display()

    @display(description=_("used of quotas"))
    def quotas_used(self, tenant: Tenant) -> str:
        return used_words(tenant, used_in_days(tenant.id, None, datetime.now(UTC).date()), TENANT)

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
