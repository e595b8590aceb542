"""The savings' page: what hits saved, by day, for one tenant or for all; as cards, a chart and a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from synth.admin.amounts import count, energy, money, number, seconds_of
from synth.admin.base import ReadOnlyAdmin
from synth.models import EngineDay
from synth.savings import MAX_DAYS, DaySaved, Saved, Savings, period, savings
from tenants.admin.bound import limit_tenants
from tenants.models import Tenant
from tenants.operators import bound_to


class PeriodForm(forms.Form):
    """Which days, and whose."""

    first = forms.DateField(label=_("From"), required=False, widget=UnfoldAdminTextInputWidget(attrs={"type": "date"}))
    last = forms.DateField(label=_("To"), required=False, widget=UnfoldAdminTextInputWidget(attrs={"type": "date"}))
    tenant = forms.ModelChoiceField(
        label=_("Tenant"),
        queryset=Tenant.objects.all(),
        required=False,
        empty_label=_("all tenants"),
        widget=UnfoldAdminSelectWidget,
    )

    def clean(self) -> dict[str, Any]:
        asked = {**self.cleaned_data}
        days = period(asked.get("first"), asked.get("last"))
        if days is None:
            raise forms.ValidationError(_("From the first day to the last it must be 1 to %d days.") % MAX_DAYS)
        return asked | {"days": days}


@admin.register(EngineDay)
class SavingsAdmin(ReadOnlyAdmin):
    """In the place of a list of rows: nobody needs those."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # noqa: ARG002
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = PeriodForm(_asked(request))
        limit_tenants(form.fields["tenant"], request)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Savings"),
            "form": form,
            "report": _page(form) if form.is_valid() else None,
            "media": self.media + form.media,
        }
        return TemplateResponse(request, "admin/synth/savings.html", context)


def _asked(request: HttpRequest) -> dict[str, Any]:
    """Days that were left out are shown in the form, too, and so is the one tenant of an operator bound to it."""
    asked: dict[str, Any] = request.GET.dict()
    whole, bound = period(None, None), bound_to(request)
    if not asked and whole is not None:
        asked = {"first": whole[0].isoformat(), "last": whole[1].isoformat()}
    if bound is not None:
        asked.setdefault("tenant", str(bound.id))
    return asked


def _page(form: PeriodForm) -> dict[str, Any]:
    tenant: Tenant | None = form.cleaned_data["tenant"]
    report = savings(*form.cleaned_data["days"], tenant=tenant.ref if tenant else None)
    return {
        "first": report.first,
        "last": report.last,
        "cards": _cards(report, COLUMNS),
        "chart": _chart(report),
        "days": _days(report),
        "engines": _engines(report),
    }


Teller = Callable[[Saved, Savings], str | None]
# The title of a card, and the shorter one of a column.
COLUMNS: tuple[tuple[Any, Any, Teller], ...] = (
    (_("Hits"), _("hits"), lambda saved, _report: count(saved.hits)),
    (_("Characters of hits"), _("characters"), lambda saved, _report: count(saved.characters)),
    (_("Characters reused by misses"), _("reused"), lambda saved, _report: count(saved.reused_characters)),
    (_("Engine time saved"), _("saved"), lambda saved, _report: seconds_of(saved.engine_seconds)),
    (_("Engine time spent"), _("spent"), lambda saved, _report: seconds_of(saved.engine_seconds_spent)),
    (_("Money saved"), _("money"), money),
    (_("Energy saved"), _("energy"), energy),
)


def _is_known(tell: Teller, report: Savings) -> bool:
    """No column where nobody set a price, or watts."""
    return tell(report.total, report) is not None


def _cards(report: Savings, columns: Iterable[tuple[Any, Any, Teller]]) -> list[tuple[Any, str | None]]:
    return [(title, tell(report.total, report)) for title, _column, tell in columns if _is_known(tell, report)]


def _days(report: Savings) -> dict[str, Any]:
    """The newest first; days on which nothing happened are left out."""
    columns = [(title, tell) for _long, title, tell in COLUMNS if _is_known(tell, report)]
    rows = [_row(day.saved, report, columns, day.day.isoformat()) for day in reversed(report.days) if day.engines]
    return {"headers": [_("day"), *(title for title, _tell in columns)], "rows": rows}


def _engines(report: Savings) -> dict[str, Any]:
    """Each engine over all the days, with the rate that the last of them reckons with."""
    columns = [(title, tell) for _long, title, tell in COLUMNS if _is_known(tell, report)]
    sums: dict[str, Saved] = {}
    rates: dict[str, str] = {}
    for item in (item for day in report.days for item in day.engines):
        sums[item.engine] = sums.get(item.engine, Saved()) + item.saved
        rates[item.engine] = "" if item.rate is None else f"{number(item.rate * 1000, 1)} ms"
    rows = [[*_row(saved, report, columns, engine), rates[engine]] for engine, saved in sorted(sums.items())]
    return {"headers": [_("engine"), *(title for title, _tell in columns), _("per character")], "rows": rows}


def _row(saved: Saved, report: Savings, columns: list[tuple[Any, Teller]], first: str) -> list[str]:
    return [first, *(tell(saved, report) or "" for _title, tell in columns)]


def _chart(report: Savings) -> str:
    """Chart.js' data: saved on spent, in minutes where seconds would be many."""
    largest = max((day.saved.engine_seconds + day.saved.engine_seconds_spent for day in report.days), default=0)
    size, unit = (
        (3600, gettext("h")) if largest > 7200 else (60, gettext("min")) if largest > 120 else (1, gettext("s"))
    )

    def bars(label: str, colour: str, of: Callable[[DaySaved], Decimal]) -> dict[str, Any]:
        values = [round(float(of(day)) / size, 3) for day in report.days]
        style = {"backgroundColor": colour, "stack": "time", "displayYAxis": True, "suffixYAxis": unit}
        return {"label": f"{label} ({unit})", "data": values, "maxTicksXLimit": 8, **style}

    return json.dumps(
        {
            "labels": [f"{day.day:%m-%d}" for day in report.days],
            "datasets": [
                bars(gettext("Saved"), "var(--color-primary-600)", lambda day: day.saved.engine_seconds),
                bars(gettext("Spent"), "var(--color-base-400)", lambda day: day.saved.engine_seconds_spent),
            ],
        }
    )
