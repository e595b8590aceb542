"""Purge, refresh, pin, unpin and extend on the entries screen: one entry, those chosen in the list, or by a filter.

Whatever it is, the page shows how many entries it is about before it is carried out.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminSplitDateTimeWidget, UnfoldAdminTextInputWidget

from synth import service
from synth.admin.base import ReadOnlyAdmin
from synth.admin.suggesting import SuggestingInput, engine_names, voice_names
from synth.errors import ConfirmationRequired, TooManyActions
from synth.models import CurationAction, Entry
from synth.service import Actor, EntryFilter, Selection
from tenants.context import request_id
from tenants.errors import NotFound, Problem
from tenants.models import Tenant
from tenants.operators import bound_to
from tenants.types import TenantRef

Kind = CurationAction.Kind
KINDS = [(kind.value, kind.label) for kind in (Kind.PURGE, Kind.REFRESH, Kind.PIN, Kind.UNPIN, Kind.EXTEND)]
PERMISSIONS = {Kind.PURGE: "synth.delete_entry"}
ANY = ("", _("any"))
MOST_CHOSEN = 1_000


class CurationForm(forms.Form):
    """What is to be done, and with which entries: `ids` where they were chosen in the list, else a filter.

    `bound` is the one tenant of an operator who has no other: whatever was sent, it is about that one.
    """

    kind = forms.ChoiceField(label=_("Action"), choices=KINDS, widget=UnfoldAdminSelectWidget)
    ids = forms.CharField(required=False, widget=forms.HiddenInput)
    tenant = forms.ModelChoiceField(
        label=_("Tenant"), queryset=Tenant.objects.all(), required=False, help_text=_("Empty: all tenants."),
        widget=AutocompleteSelect(
            Entry._meta.get_field("tenant"),  # noqa: SLF001 - Django's own widget wants the relation
            admin.site,
            attrs={"class": "unfold-admin-autocomplete admin-autocomplete", "data-theme": "admin-autocomplete"},
        ),
    )  # fmt: skip
    text_contains = forms.CharField(
        label=_("Text contains"), max_length=1000, required=False, widget=UnfoldAdminTextInputWidget
    )
    voice = forms.CharField(label=_("Voice"), max_length=128, required=False, widget=SuggestingInput(voice_names))
    engine = forms.CharField(label=_("Engine"), max_length=64, required=False, widget=SuggestingInput(engine_names))
    category = forms.CharField(label=_("Category"), max_length=64, required=False, widget=UnfoldAdminTextInputWidget)
    entry_kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[ANY, *Entry.Kind.choices], widget=UnfoldAdminSelectWidget
    )
    pinned = forms.TypedChoiceField(
        label=_("Pinned"), required=False, empty_value=None, coerce=lambda value: value == "yes",
        choices=[ANY, ("yes", _("yes")), ("no", _("no"))], widget=UnfoldAdminSelectWidget,
    )  # fmt: skip
    made_before = forms.SplitDateTimeField(
        label=_("Made before"), required=False, widget=UnfoldAdminSplitDateTimeWidget
    )

    def __init__(self, *args: Any, bound: TenantRef | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bound = bound
        if bound is not None:
            tenants: Any = self.fields["tenant"]
            tenants.queryset, tenants.help_text = Tenant.objects.filter(id=bound.id), ""

    def clean_ids(self) -> tuple[UUID, ...]:
        try:
            ids = tuple(UUID(hex=item) for item in str(self.cleaned_data["ids"]).split(",") if item)
        except ValueError as error:
            raise forms.ValidationError(_("These are no ids.")) from error
        if len(ids) > MOST_CHOSEN:
            raise forms.ValidationError(_("These are too many to be chosen one by one: use a filter."))
        return ids

    def clean(self) -> dict[str, Any]:
        asked: dict[str, Any] = self.cleaned_data
        if not asked.get("ids") and not asked.get("tenant") and not self._filter().conditions and not self.errors:
            raise forms.ValidationError(_("An empty filter would match everything: name a time at least."))
        return asked

    @property
    def selection(self) -> Selection:
        ids = self.cleaned_data["ids"]
        return Selection(ids=ids) if ids else Selection(filter=self._filter())

    @property
    def scope(self) -> TenantRef | None:
        tenant: Tenant | None = self.cleaned_data["tenant"]
        return self._bound or (tenant.ref if tenant else None)

    def _filter(self) -> EntryFilter:
        asked: dict[str, Any] = self.cleaned_data
        return EntryFilter(
            voice=asked.get("voice", ""),
            engine=asked.get("engine", ""),
            category=asked.get("category", ""),
            text_contains=asked.get("text_contains", ""),
            kind=asked.get("entry_kind", ""),
            pinned=asked.get("pinned"),
            made_before=asked.get("made_before"),
        )


class CuratesEntries(ReadOnlyAdmin):
    """What the entries' screen can do to what it lists."""

    actions = ["purge", "refresh", "pin", "unpin", "extend"]
    actions_list = ["curate"]
    actions_detail = ["refresh_this", "pin_this", "unpin_this", "extend_this", "purge_this"]

    def has_purge_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return may(request, Kind.PURGE)

    def has_curate_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return may(request, Kind.REFRESH)

    @action(description=_("Purge"), permissions=["purge"])
    def purge(self, request: HttpRequest, entries: QuerySet[Entry]) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.PURGE, entries))

    @action(description=_("Refresh"), permissions=["curate"])
    def refresh(self, request: HttpRequest, entries: QuerySet[Entry]) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.REFRESH, entries.filter(kind=Entry.Kind.RENDITION)))

    @action(description=_("Pin"), permissions=["curate"])
    def pin(self, request: HttpRequest, entries: QuerySet[Entry]) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.PIN, entries))

    @action(description=_("Unpin"), permissions=["curate"])
    def unpin(self, request: HttpRequest, entries: QuerySet[Entry]) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.UNPIN, entries))

    @action(description=_("Extend"), permissions=["curate"])
    def extend(self, request: HttpRequest, entries: QuerySet[Entry]) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.EXTEND, entries))

    @action(description=_("Refresh"), url_path="refresh", permissions=["curate"], icon="refresh")
    def refresh_this(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.REFRESH, self.get_queryset(request).filter(id=object_id)))

    @action(description=_("Pin"), url_path="pin", permissions=["curate"], icon="keep")
    def pin_this(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.PIN, self.get_queryset(request).filter(id=object_id)))

    @action(description=_("Unpin"), url_path="unpin", permissions=["curate"], icon="keep_off")
    def unpin_this(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.UNPIN, self.get_queryset(request).filter(id=object_id)))

    @action(description=_("Extend"), url_path="extend", permissions=["curate"], icon="more_time")
    def extend_this(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.EXTEND, self.get_queryset(request).filter(id=object_id)))

    @action(description=_("Purge"), url_path="purge", permissions=["purge"], icon="delete")
    def purge_this(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        return self._ask(request, chosen(request, Kind.PURGE, self.get_queryset(request).filter(id=object_id)))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """What can be done to this one: it is pinned or not, and sentences are made anew with their renditions."""
        row = self.get_queryset(request).filter(id=object_id).values_list("pinned", "kind").first()
        hidden = {"pin_this" if row and row[0] else "unpin_this"}
        if row and row[1] == Entry.Kind.SEGMENT:
            hidden.add("refresh_this")
        found = super().get_actions_detail(request, object_id)
        return [button for button in found if button.action_name.removeprefix("synth_entry_") not in hidden]

    @action(description=_("Change by filter"), url_path="curate", permissions=["curate"], icon="filter_alt")
    def curate(self, request: HttpRequest) -> HttpResponse:
        """First the form, then the count, then the action."""
        if request.method != "POST":
            return self._page(request, CurationForm(bound=bound_to(request)))
        form = CurationForm(request.POST, bound=bound_to(request))
        if not form.is_valid():
            return self._page(request, form)
        expected = request.POST.get("expected", "")
        if not expected.isdigit():
            return self._ask(request, form)
        return self._carry_out(request, form, expected=int(expected))

    def _carry_out(self, request: HttpRequest, form: CurationForm, *, expected: int) -> HttpResponse:
        kind = form.cleaned_data["kind"]
        if not may(request, kind):
            raise PermissionDenied
        actor = Actor(user_name=request.user.get_username(), request_id=request_id() or "")
        try:
            done = service.curate(kind, form.selection, tenant=form.scope, actor=actor, expected=expected)
        except ConfirmationRequired:  # there are more by now
            return self._ask(request, form)
        except TooManyActions as problem:
            form.add_error(None, gettext(problem.detail) % problem.params)
            return self._page(request, form)
        return HttpResponseRedirect(reverse("admin:synth_curationaction_change", args=[done.id]))

    def _ask(self, request: HttpRequest, form: CurationForm) -> HttpResponse:
        """The page that says how many entries it is about."""
        if not form.is_valid():
            return self._page(request, form)
        try:
            count = service.count_matching(form.cleaned_data["kind"], form.selection, tenant=form.scope)
        except NotFound:
            form.add_error(None, _("Some of the chosen entries are gone by now."))
            return self._page(request, form)
        except Problem as problem:
            form.add_error(None, gettext(problem.detail) % problem.params)
            return self._page(request, form)
        return self._page(request, form, count=count)

    def _page(self, request: HttpRequest, form: CurationForm, count: int | None = None) -> HttpResponse:
        kinds = [(value, label) for value, label in KINDS if may(request, value)]
        form.fields["kind"].choices = kinds  # type: ignore[attr-defined]
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Change entries by filter"),
            "form": form,
            "count": count,
            "label": dict(KINDS).get(form.cleaned_data.get("kind", ""), "") if form.is_bound else "",
            "media": self.media + form.media,
            "address": reverse("admin:synth_entry_curate"),
        }
        return TemplateResponse(request, "admin/synth/entry/curate.html", context)


def chosen(request: HttpRequest, kind: str, entries: QuerySet[Entry]) -> CurationForm:
    ids = entries.order_by().values_list("id", flat=True)[: MOST_CHOSEN + 1]
    asked = {"kind": kind, "ids": ",".join(item.hex for item in ids) or "0" * 32}
    return CurationForm(asked, bound=bound_to(request))


def may(request: HttpRequest, kind: str) -> bool:
    """A purge takes the right to delete entries, all else the right to change them."""
    return request.user.has_perm(PERMISSIONS.get(Kind(kind), "synth.change_entry"))
