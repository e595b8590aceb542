"""What operators do in the admin, for the audit: noted before it is done, completed once it is. The middleware calls.

Values of forms are never kept: names of fields, of actions and of objects are.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.admin.utils import unquote
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

from tenants.addresses import client_address
from tenants.audit.events import NOBODY, OK, OPERATOR, Event, as_json
from tenants.audit.writing import chain_of, finish, note
from tenants.context import deed, request_id
from tenants.ids import new_id
from tenants.models import Tenant

MOST_OBJECTS = 100
BEGUN = "begun"
LOGIN = "login"


@dataclass(frozen=True, slots=True)
class Act:
    """The events of one act: one for each object that it is about, in the chain of the tenant whose that is."""

    name: str
    events: tuple[tuple[UUID | None, Event], ...]


def begin_act(request: HttpRequest, *, name: str, object_id: str | None = None) -> Act:
    """Committed before the act itself begins. When its process dies, the audit says that it was begun."""
    event = Event(
        action=f"{request.method} admin:{name}",
        outcome=BEGUN,
        request_id=request_id() or "",
        address=client_address(request.META),
        detail=as_json(action=_action(request)),
        **_who(request),
    )
    found = list(_objects(request, name, object_id)) or [(None, "")]
    act = Act(name, tuple((tenant, replace(event, id=new_id(), object=what)) for tenant, what in found))
    for tenant, one in act.events:
        note(chain_of(tenant), one, unfinished=True)
    return act


def finish_act(act: Act, request: HttpRequest, response: HttpResponse) -> None:
    """With how it ended, and what Django's own log says of it."""
    said = deed()
    ended: dict[str, Any] = {
        "status": response.status_code,
        "outcome": _outcome(act, request, response),
        "detail": as_json(action=_action(request), changes=said.changes),
    }
    if act.name == LOGIN:
        ended |= _who(request) if request.user.is_authenticated else _who_tried(request)
    for tenant, event in act.events:
        made = bool(said.object and not event.object)  # just now
        finish(
            chain_of(said.tenant_id if made else tenant),
            replace(event, **ended, object=said.object if made else event.object),
        )


def note_log_entry(*, instance: LogEntry, created: bool, **_: Any) -> None:
    """By a signal: which fields were changed, and what was made."""
    if not created:
        return
    said = deed()
    said.changes.append(instance.change_message)
    if instance.action_flag == ADDITION:
        row = instance.get_edited_object()
        said.object, said.tenant_id = _named(row), _tenant_of(row)


def _who(request: HttpRequest) -> dict[str, Any]:
    user = request.user
    if not user.is_authenticated:
        return {"actor_kind": NOBODY}
    return {"actor_kind": OPERATOR, "actor_id": str(user.pk), "actor_name": user.get_username()}


def _who_tried(request: HttpRequest) -> dict[str, str]:
    """The name of a user that there is; never what else was typed there, which may be a password."""
    name = request.POST.get("username", "")
    known = get_user_model().objects.filter(username=name).exists() if "\0" not in name else False
    return {"actor_kind": NOBODY, "actor_name": name if known else ""}


def _outcome(act: Act, request: HttpRequest, response: HttpResponse) -> str:
    if response.status_code >= 400:
        return str(response.status_code)
    if act.name == LOGIN:
        return OK if request.user.is_authenticated else "refused"
    context = getattr(response, "context_data", None) or {}
    return "invalid" if context.get("errors") else OK


def _action(request: HttpRequest) -> str:
    return request.POST.get("action", "") if request.method == "POST" else ""


def _objects(request: HttpRequest, name: str, object_id: str | None) -> Iterator[tuple[UUID | None, str]]:
    """What an act is about: the row that its address names, or those that are ticked in a list."""
    model = _model_of(name)
    if model is None:
        return
    if request.method == "POST" and request.POST.get("select_across") == "1":
        yield None, f"{_meta(model).model_name}:*"
        return
    ticked = request.POST.getlist("_selected_action") if request.method == "POST" else []
    ids = [unquote(str(object_id))] if object_id else ticked
    for row in _rows(model, ids[:MOST_OBJECTS]):
        yield _tenant_of(row), _named(row)


def _rows(model: type[Model], ids: list[str]) -> list[Model]:
    try:
        return list(_meta(model).default_manager.filter(pk__in=ids)) if ids else []
    except (ValueError, ValidationError):
        return []


def _model_of(name: str) -> type[Model] | None:
    """By the name of a page, `<app>_<model>_<what>`: the longest that fits."""
    names = {f"{_meta(model).app_label}_{_meta(model).model_name}_": model for model in apps.get_models()}
    fits = [prefix for prefix in names if name.startswith(prefix)]
    return names[max(fits, key=len)] if fits else None


def _named(row: Model | None) -> str:
    """As the API knows it, where it does."""
    if row is None:
        return ""
    return getattr(row, "public_id", "") or f"{_meta(row).model_name}:{row.pk}"


def _tenant_of(row: Model | None) -> UUID | None:
    found: UUID | None = row.id if isinstance(row, Tenant) else getattr(row, "tenant_id", None)
    return found


def _meta(model: Model | type[Model]) -> Any:
    return model._meta  # noqa: SLF001 - public, whatever its name says
