"""What the middleware tells the audit: each request of the API once it is answered, and each act of an operator."""

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from synth import service
from tenants.addresses import client_address
from tenants.audit.events import OK, SIGNED, Event
from tenants.context import Deed, deed, request_id
from tenants.ids import new_id, parse_id

# For everyone, and of no tenant.
UNHEARD = frozenset({"/v1/openapi.json"})
FILES = "/files/"
_PLACE = re.compile(r"<(?:\w+:)?(\w+)>")


def note_answer(request: HttpRequest, response: HttpResponseBase) -> None:
    """To be called before the answer leaves. A hit's event is in Redis already."""
    said = deed()
    if said.recorded or request.path in UNHEARD:
        return
    if request.path.startswith(FILES):
        _name_file(request, response, said)
    own_id = request_id() or ""
    event = Event(
        id=parse_id("req", own_id) or new_id(),
        action=action_of(request),
        actor_kind=said.actor_kind,
        actor_id=said.actor_id,
        actor_name=said.actor_name,
        object=said.object or _object_of(request, response),
        status=response.status_code,
        outcome=OK if response.status_code < 400 else said.outcome or str(response.status_code),
        cache=said.cache,
        characters=said.characters,
        request_id=own_id,
        address=client_address(request.META),
        text_kind=said.text[0],
        text=said.text[1],
    )
    service.note_audit(said.tenant_id, event)


def action_of(request: HttpRequest) -> str:
    """`GET /v1/speech/{speech_id}`; of an address that is none, the method alone."""
    match = request.resolver_match
    route = "/" + _PLACE.sub(r"{\1}", match.route) if match else ""
    return f"{request.method} {route}".rstrip()


def _object_of(request: HttpRequest, response: HttpResponseBase) -> str:
    """What the address names, or what was made."""
    if request.resolver_match is None:
        return request.path
    named = [str(value) for value in request.resolver_match.kwargs.values()]
    if named:
        return named[-1]
    data = getattr(response, "data", None)
    return str(data.get("id", "")) if isinstance(data, dict) and request.method == "POST" else ""


def _name_file(request: HttpRequest, response: HttpResponseBase, said: Deed) -> None:
    """Only an address that is signed tells whose file it is."""
    if response.status_code >= 400:
        return
    said.actor_kind = SIGNED
    folder = request.path.removeprefix(FILES).partition("/")[0]
    said.tenant_id = UUID(hex=folder) if re.fullmatch("[0-9a-f]{32}", folder) else None


class OperatorAuditMiddleware:
    """Every unsafe request of the admin, and its exports: begun in the database, so that none acts unseen and dies."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        act = getattr(request, "audited_act", None)
        if act is None and request.method == "POST" and request.path.startswith("/admin/"):  # refused before its view
            act = service.begin_act(request, name=request.path)
        if act is not None:
            service.finish_act(act, request, response)
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]) -> None:  # noqa: ARG002
        match = request.resolver_match
        if match is None or "admin" not in match.namespaces:
            return
        if request.method == "POST" or "export" in (match.url_name or ""):
            object_id = kwargs.get("object_id")
            request.audited_act = service.begin_act(request, name=match.url_name or "", object_id=object_id)  # type: ignore[attr-defined]
