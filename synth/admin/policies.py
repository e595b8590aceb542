"""The TTL rules' screen: add, change, switch and delete them; and "Which rule applies", for any request typed in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from synth import service
from synth.admin import filters
from synth.admin.base import excerpt
from synth.admin.rule_words import kept, matched
from synth.admin.suggesting import SuggestingInput, engine_names, voice_names
from synth.admin.which_rule import QuestionForm, answer
from synth.models import Policy
from synth.models.policy import HOT_FIELDS
from tenants.admin.base import ServiceAdmin
from tenants.admin.bound import limit_tenants
from tenants.operators import bound_to


class PolicyForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic at run time
    class Meta:
        model = Policy
        fields = [
            "tenant", "note", "priority", "enabled", "category", "engine", "voice", "min_characters", "max_characters",
            "max_age", "pinned", "never_cache", "stale", "model_change", *HOT_FIELDS,
        ]  # fmt: skip
        widgets = {"engine": SuggestingInput(engine_names), "voice": SuggestingInput(voice_names)}


@admin.register(Policy)
class PolicyAdmin(ServiceAdmin):
    form = PolicyForm
    paginator = Paginator  # a bounded number for each tenant: few
    list_display = ["rule_name", "tenant_name", "priority", "enabled", "matches", "keeps"]
    list_select_related = ["tenant"]
    list_filter = ["enabled", filters.TENANT, "by_tenant", "pinned", "never_cache"]
    search_fields = ["note", "category", "engine", "voice", "tenant__slug"]
    autocomplete_fields = ["tenant"]
    readonly_fields = ["public_id", "by_tenant", "created_at", "updated_at"]
    actions = ["enable", "disable"]
    actions_list = ["which_rule"]
    fieldsets = [
        (None, {"fields": ["note", "tenant", "priority", "enabled"]}),
        (_("What it matches"), {"fields": ["category", "engine", "voice", ("min_characters", "max_characters")]}),
        (_("How long it is kept"), {"fields": ["max_age", "stale", ("pinned", "never_cache"), "model_change"]}),
        (_("Longer while it is asked for often"), {
            "fields": [("hot_hits", "hot_window"), ("hot_factor", "hot_ceiling")],
            "description": _("All four, or none."),
        }),
    ]  # fmt: skip

    class Media:
        css = {"all": ["synth/admin.css"]}

    def get_fieldsets(self, request: HttpRequest, obj: Policy | None = None) -> Any:  # noqa: ARG002
        times = (_("This rule"), {"fields": ["public_id", "by_tenant", "created_at", "updated_at"]})
        return [*self.fieldsets, times] if obj else self.fieldsets

    @action(description=_("Which rule applies?"), url_path="which", permissions=["view"], icon="help")
    def which_rule(self, request: HttpRequest) -> HttpResponse:
        """Asked by GET: a question is not a change, and its address can be passed on."""
        form = QuestionForm(request.GET or None)
        limit_tenants(form.fields["tenant"], request)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Which rule applies"),
            "form": form,
            "answer": answer(form, bound=bound_to(request)) if form.is_valid() else None,
            "media": self.media + form.media,
        }
        return TemplateResponse(request, "admin/synth/policy/which.html", context)

    # --- Changes --------------------------------------------------------------------------------------------------

    def create(self, form: forms.ModelForm[Policy]) -> Policy:
        return service.save_policy(form.instance)

    def update(self, obj: Policy, form: forms.ModelForm[Policy]) -> None:  # noqa: ARG002
        service.save_policy(obj)

    def delete_model(self, request: HttpRequest, obj: Policy) -> None:  # noqa: ARG002
        service.delete_policies([obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Policy]) -> None:  # noqa: ARG002
        service.delete_policies(queryset)

    @action(description=_("Switch on"), permissions=["change"])
    def enable(self, request: HttpRequest, policies: QuerySet[Policy]) -> None:
        self.message_user(request, gettext("Switched on: %d") % service.switch_policies(policies, on=True))

    @action(description=_("Switch off"), permissions=["change"])
    def disable(self, request: HttpRequest, policies: QuerySet[Policy]) -> None:
        self.message_user(request, gettext("Switched off: %d") % service.switch_policies(policies, on=False))

    # --- Columns --------------------------------------------------------------------------------------------------

    @display(description=_("rule"), ordering="note")
    def rule_name(self, policy: Policy) -> str:
        return excerpt(str(policy))

    @display(description=_("tenant"), ordering="tenant__name")
    def tenant_name(self, policy: Policy) -> str:
        return policy.tenant.name if policy.tenant else gettext("all tenants")

    @display(description=_("matches"))
    def matches(self, policy: Policy) -> str:
        return matched(policy)

    @display(description=_("kept"))
    def keeps(self, policy: Policy) -> str:
        return kept(policy)

    @display(description=_("id"))
    def public_id(self, policy: Policy) -> str:
        return policy.public_id
