"""An admin screen that saves nothing itself: rows are made and changed by functions of `tenants.service`."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.utils import label_for_field
from django.db.models import Model
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from tenants.admin.bound import BoundAdmin
from tenants.limits import MIN_RATE
from tenants.models import ApiKey, Tenant
from tenants.quota_use import Use
from tenants.quotas import NAMES

LIMIT_FIELDS = ["rate_limit", "rate_burst"]


class LimitForm(ModelForm):  # type: ignore[type-arg]  # not generic at run time
    """For rows with a rate limit: what the service would refuse is told at its field."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        rate = cleaned.get("rate_limit")
        if rate and rate < MIN_RATE:
            self.add_error("rate_limit", _("A rate is 0, or at least %(minimum)s.") % {"minimum": f"{MIN_RATE:g}"})
        if cleaned.get("rate_burst") and not rate:
            self.add_error("rate_burst", _("Requests at once need requests per second, too."))
        return dict(cleaned)


def used_words(row: Tenant | ApiKey, used: Use, scope: str) -> str:
    """What is used of each quota of characters, a line each: beside its own number, where it has one."""
    lines = (
        (capfirst(str(label_for_field(name, type(row)))), _share(used[scope, name], getattr(row, name)))
        for name in NAMES
        if (scope, name) in used
    )
    return format_html_join(mark_safe("<br>"), "{}: {}", lines)


def _share(used: int, quota: int | None) -> str:
    return f"{used:,} / {quota:,} ({used / quota:.0%})" if quota else f"{used:,}"


class ServiceAdmin(BoundAdmin):
    """A screen says what its two forms call; Django's own log, permissions and transaction stay in place."""

    def create(self, form: ModelForm[Any]) -> Model:
        raise NotImplementedError

    def update(self, obj: Any, form: ModelForm[Any]) -> None:
        raise NotImplementedError

    def save_form(self, request: HttpRequest, form: ModelForm[Any], change: bool) -> Model:
        unsaved: Model = super().save_form(request, form, change)  # also prepares what save_related calls
        return unsaved if change else self.create(form)

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm[Any], change: Any) -> None:
        if not change:
            return
        if form.has_changed():
            self.update(obj, form)
        for button in self.get_actions_submit_line(request, obj.pk):
            if button.action_name in request.POST:
                button.method(request, obj)
