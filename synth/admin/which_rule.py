"""The page "Which rule applies": a request is typed in, and every TTL rule says whether it applies and why not."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from synth import service
from synth.admin.base import excerpt, link
from synth.admin.rule_words import duration, kept, matched, reasons, retained
from synth.admin.suggesting import SuggestingInput, engine_names, voice_names
from synth.cache.policy import Retention
from synth.models import Entry, Policy
from synth.service import Explanation, Question
from synth.service.explaining import StoredForm
from synth.spec import MAX_WAITING_CHARACTERS
from tenants.errors import Problem
from tenants.models import Tenant
from tenants.types import TenantRef

STATES = {
    "fresh": _("fresh"),
    "stale": _("served old, and made anew"),
    "expired": _("expired"),
    "unused": _("not used: never cached"),
}


def _engines() -> list[tuple[str, str]]:
    return [("", gettext("as the API chooses")), *((name, name) for name in engine_names())]


class QuestionForm(forms.Form):
    """A request as far as rules look at it."""

    tenant = forms.ModelChoiceField(
        label=_("Tenant"),
        queryset=Tenant.objects.all(),
        widget=AutocompleteSelect(
            Policy._meta.get_field("tenant"),  # noqa: SLF001 - Django's own widget wants the relation
            admin.site,
            attrs={"class": "unfold-admin-autocomplete admin-autocomplete", "data-theme": "admin-autocomplete"},
        ),
    )
    text = forms.CharField(
        label=_("Text"), max_length=MAX_WAITING_CHARACTERS, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3})
    )
    category = forms.CharField(label=_("Category"), max_length=64, required=False, widget=UnfoldAdminTextInputWidget)
    engine = forms.ChoiceField(label=_("Engine"), choices=_engines, required=False, widget=UnfoldAdminSelectWidget)
    voice = forms.CharField(
        label=_("Voice"), max_length=128, required=False, widget=SuggestingInput(voice_names),
        help_text=_("Without engine and voice, those that the API would choose for the text."),
    )  # fmt: skip


def answer(form: QuestionForm, *, bound: TenantRef | None = None) -> dict[str, Any] | None:
    """What the page shows for a valid form. What the API would refuse becomes errors of the form.

    To an operator who is `bound` to one tenant, a rule for all is the platform's: neither its note nor its page.
    """
    asked = dict(form.cleaned_data)
    tenant: Tenant = asked.pop("tenant")
    try:
        explanation = service.explain_request(tenant.ref, Question(**asked))
    except Problem as problem:
        _tell(form, problem)
        return None
    winner = explanation.rows.get(explanation.retention.rule)
    return {
        "winner": _linked(winner, bound) if winner else "",
        "kept": retained(explanation.retention),
        "subject": explanation.subject,
        "rules": _rules(explanation, winner, bound),
        "forms": _forms(explanation),
        "absent": ", ".join(form.format for form in explanation.forms if form.entry is None),
        "sentences": explanation.sentences,
        "stored_sentences": explanation.stored_sentences if explanation.retention.store else 0,
    }


def _tell(form: QuestionForm, problem: Problem) -> None:
    for field in problem.fields:
        name = field.field if field.field in form.fields else None
        form.add_error(name, gettext(field.message) % field.params)
    if not problem.fields:
        form.add_error(None, gettext(problem.detail) % problem.params)


def _named(policy: Policy, bound: TenantRef | None) -> str:
    return gettext("a rule of the platform") if bound and not policy.tenant_id else excerpt(str(policy))


def _linked(policy: Policy, bound: TenantRef | None) -> str:
    name = _named(policy, bound)
    return name if bound and not policy.tenant_id else link("synth_policy", policy.pk, name)


def _rules(explanation: Explanation, winner: Policy | None, bound: TenantRef | None) -> dict[str, Any]:
    headers = [_("rule"), _("verdict"), _("priority"), _("tenant"), _("matches"), _("kept")]
    rows = []
    for verdict in explanation.verdicts:
        policy = explanation.rows[verdict.rule.id]
        rows.append(
            [
                _linked(policy, bound),
                reasons(verdict, explanation.subject, _named(winner, bound) if winner else ""),
                policy.priority,
                policy.tenant.name if policy.tenant else gettext("all tenants"),
                matched(policy),
                kept(policy),
            ]
        )
    return {"headers": headers, "rows": rows}


def _forms(explanation: Explanation) -> dict[str, Any]:
    headers = [_("format"), _("now"), _("age"), _("of at most"), _("made"), _("entry")]
    rows = [_form(form, form.entry, explanation.retention) for form in explanation.forms if form.entry]
    return {"headers": headers, "rows": rows}


def _form(form: StoredForm, entry: Entry, retention: Retention) -> list[Any]:
    pinned = retention.pinned or entry.pinned
    return [
        form.format,
        STATES[form.state if retention.store else "unused"],
        duration(form.age),
        gettext("pinned") if pinned else duration(retention.max_age),
        date_format(localtime(entry.made_at), "DATETIME_FORMAT"),
        link("synth_entry", entry.pk, entry.key[:12]),
    ]
