"""Screens of rows that the queue and the cache own: people look at them here, nobody edits them."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Left
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.paginator import InfinitePaginator
from unfold.views import ChangeList

from synth.models.states import Priority, State
from tenants.admin.bound import BoundAdmin
from tenants.ids import parse_id

EXCERPT = 60
STATE_COLOURS = {
    State.WAITING.value: "info",
    State.QUEUED.value: "info",
    State.RUNNING.value: "warning",
    State.SUCCEEDED.value: "success",
    State.FAILED.value: "danger",
}
PRIORITIES = {
    Priority.INTERACTIVE: _("interactive"),
    Priority.BATCH: _("batch"),
    Priority.REWARM: _("re-warm"),
}


class ReadOnlyAdmin(BoundAdmin):
    """Looks, and never counts a whole table: lists page by Previous and Next."""

    id_prefix = ""
    list_per_page = 50
    list_disable_select_all = True
    show_full_result_count = False
    paginator = InfinitePaginator

    class Media:
        css = {"all": ["synth/admin.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """An id finds its row by the primary key; anything else is looked for in `search_fields`."""
        row_id = parse_row_id(self.id_prefix, search_term.strip())
        if row_id is not None:
            return queryset.filter(id=row_id), False
        found: tuple[QuerySet[Any], bool] = super().get_search_results(request, queryset, search_term)
        return found


class RowsAtOnce(ChangeList):
    """A list whose rows take something from elsewhere, asked once for all rows of a page."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows: list[Any] = list(self.result_list)  # type: ignore[has-type]
        self.complete(rows)
        self.result_list = rows

    def complete(self, rows: list[Any]) -> None:
        raise NotImplementedError


class QueueAdmin(ReadOnlyAdmin):
    """What the columns of jobs, renderings and syntheses have in common."""

    list_select_related = ["tenant"]

    @display(description=_("state"), ordering="state", label=STATE_COLOURS)
    def state_label(self, row: Any) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @display(description=_("priority"))
    def priority_name(self, row: Any) -> Any:
        return PRIORITIES.get(row.priority, row.priority)


def parse_row_id(prefix: str, text: str) -> UUID | None:
    """The UUID behind a public id or a bare UUID."""
    try:
        return parse_id(prefix, text) or UUID(text)
    except ValueError:
        return None


def beginning(text: Combinable | str) -> Left:
    """Reads the beginning of a text in the database, so that a page of long texts stays small."""
    return Left(F(text) if isinstance(text, str) else text, EXCERPT + 1)


def excerpt(text: str | None) -> str:
    return Truncator(text or "").chars(EXCERPT)


def seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} s"


def readable_json(value: Any) -> SafeString:
    """JSON as people write it: Django's own display turns Chinese into escapes."""
    return format_html('<pre class="refrain-text">{}</pre>', json.dumps(value, ensure_ascii=False, indent=2))


def link(name: str, row_id: Any, text: Any) -> SafeString:
    """A link to the page of one row; `name` is `<app>_<model>`."""
    address = reverse(f"admin:{name}_change", args=[row_id])
    return format_html('<a class="refrain-link" href="{}">{}</a>', address, text)
