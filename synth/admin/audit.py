"""The audit's screens: what was done, the chains that prove it, and unusual use; nobody edits any of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.urls import URLPattern, get_resolver, path
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter
from unfold.decorators import action, display

from synth import service
from synth.admin import filters
from synth.admin.base import ReadOnlyAdmin, readable_json
from synth.errors import StorageUnavailable
from tenants.audit.events import ACTORS, GAP, OK
from tenants.audit.reading import FORMATS, exported
from tenants.models import AuditChain, AuditEvent, AuditFlag

# So many events are verified while the operator waits, which takes a second; more by a worker.
VERIFIED_AT_ONCE = 20_000
METHODS = ("GET", "POST", "PATCH", "PUT", "DELETE")
ACTOR_NAMES = {
    "key": _("API key"),
    "operator": _("operator"),
    "signed_url": _("signed address"),
    "nobody": _("nobody known"),
    "system": _("Refrain itself"),
}


class ActorFilter(filters.ColumnFilter):
    title = _("who")
    parameter_name = "actor_kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [(kind, ACTOR_NAMES[kind]) for kind in ACTORS]


class ActionFilter(filters.ColumnFilter):
    title = _("action")
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(name, name) for name in sorted(_actions())]


class OutcomeFilter(DropdownFilter):
    title = _("outcome")
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [("ok", _("done")), ("refused", _("refused or failed")), ("gap", _("gap"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        wanted = self.value()
        if wanted == "refused":
            return queryset.exclude(outcome__in=[OK, GAP])
        return queryset.filter(outcome=wanted) if wanted else queryset


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    id_prefix = "req"
    list_display = [
        "at", "tenant", "who", "action", "outcome", "cache", "characters", "object", "address", "request_id",
    ]  # fmt: skip
    list_select_related = ["tenant"]
    list_filter = [filters.TENANT, ActorFilter, ActionFilter, OutcomeFilter, ("at", RangeDateTimeFilter)]
    list_before_template = "admin/tenants/auditevent/export.html"
    search_fields = ["object__exact", "actor_id__exact"]
    search_help_text = _("Request id, id of an object, or id of a key or operator")
    fields = [
        "at", "tenant", "sequence", "who", "actor_id", "action", "object", "status", "outcome", "cache", "characters",
        "count", "request_id", "address", "text_kind", "text", "details", "mac",
    ]  # fmt: skip

    def get_urls(self) -> list[URLPattern]:
        export = path("export/<str:form>/", self.admin_site.admin_view(self.export), name="tenants_auditevent_export")
        return [export, *super().get_urls()]

    def export(self, request: HttpRequest, form: str) -> StreamingHttpResponse:
        """What the list would show with these filters, all pages of it, the oldest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if form not in FORMATS:
            raise Http404
        rows = self.get_changelist_instance(request).get_queryset(request)
        headers = {"Content-Disposition": f'attachment; filename="audit.{form}"', "Cache-Control": "no-store"}
        lines = exported(rows.order_by("at", "id"), form)
        return StreamingHttpResponse(lines, content_type=FORMATS[form], headers=headers)

    @display(description=_("who"))
    def who(self, row: AuditEvent) -> str:
        return f"{ACTOR_NAMES.get(row.actor_kind, row.actor_kind)} {row.actor_name or row.actor_id}".strip()

    @display(description=_("details"))
    def details(self, row: AuditEvent) -> str:
        return row.detail


@admin.register(AuditChain)
class AuditChainAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "verdict", "verified_at", "last", "dropped_last", "anchored_at"]
    list_select_related = ["tenant"]
    list_filter = [filters.TENANT]
    search_fields = ["tenant__slug", "tenant__name"]
    actions = ["verify"]
    fields = [
        "tenant", "verdict_told", "verified_at", "verified_events", "findings_list", "last", "number", "mac",
        "dropped_last", "dropped_at", "anchored_at", "anchored_last",
    ]  # fmt: skip

    def has_verify_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return bool(self.has_view_permission(request))

    @action(description=_("Verify"), permissions=["verify"])
    def verify(self, request: HttpRequest, chains: QuerySet[AuditChain]) -> None:
        """At once as far as that takes a moment; the rest by a worker."""
        left, later = VERIFIED_AT_ONCE, []
        for chain in chains:
            events = chain.last - chain.dropped_last
            if events > left:
                later.append(chain.id)
                continue
            left -= events
            self._verify(request, chain)
        if later:
            service.ask_for_verification(later)
            self.message_user(request, gettext("To be verified by a worker within a minute or so: %d") % len(later))

    def _verify(self, request: HttpRequest, chain: AuditChain) -> None:
        try:
            report = service.verify_chain(chain.id)
        except StorageUnavailable:
            self.message_user(request, gettext("The store with the anchors is away."), messages.ERROR)
            return
        said = {"chain": str(chain), "events": report.events}
        if report.sound:
            self.message_user(request, gettext("%(chain)s: %(events)d events, all as they were sealed.") % said)
        for finding in report.findings:
            self.message_user(request, f"{chain}: {finding}", messages.ERROR)

    @display(description=_("verdict"), label={"sound": "success", "broken": "danger"})
    def verdict(self, chain: AuditChain) -> tuple[str, Any]:
        if chain.verified_at is None:
            return "unknown", _("not verified yet")
        return ("broken", _("altered")) if chain.findings else ("sound", _("sound"))

    @display(description=_("verdict"))
    def verdict_told(self, chain: AuditChain) -> Any:
        return self.verdict(chain)[1]

    @display(description=_("findings"))
    def findings_list(self, chain: AuditChain) -> SafeString:
        return format_html_join("", "<div>{}</div>", ((finding,) for finding in chain.findings))


@admin.register(AuditFlag)
class AuditFlagAdmin(ReadOnlyAdmin):
    list_display = ["at", "tenant", "kind", "actor_name", "actor_id", "numbers"]
    list_select_related = ["tenant"]
    list_filter = [filters.TENANT, ("kind", ChoicesDropdownFilter)]
    search_fields = ["=actor_id"]
    fields = ["at", "tenant", "kind", "actor_name", "actor_id", "numbers_json"]

    @display(description=_("numbers"))
    def numbers_json(self, flag: AuditFlag) -> SafeString:
        return readable_json(flag.numbers)


def _actions() -> Iterator[str]:
    """Of the API, by its addresses, as `ttsproject/auditing.py` names them."""
    for route in get_resolver().url_patterns:
        view = getattr(route.callback, "cls", None) if isinstance(route, URLPattern) else None
        address = str(route.pattern).replace("<str:", "{").replace(">", "}")
        yield from (f"{method} /{address}" for method in METHODS if hasattr(view, method.lower()))
