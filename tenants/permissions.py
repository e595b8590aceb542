"""What a caller may do: a view names the scope that each of its methods needs, and anything else is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission

from tenants.errors import Forbidden, Unauthenticated
from tenants.errors import untranslated as _
from tenants.types import Caller

if TYPE_CHECKING:  # REST framework's views import this file through the settings
    from rest_framework.request import Request
    from rest_framework.views import APIView


class HasScope(BasePermission):
    """The view declares `required_scopes = {"GET": "speech:read", …}`; HEAD counts as GET."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.auth, Caller):
            raise Unauthenticated
        if not _handles(view, request.method):
            return True  # REST framework answers 405 next
        require_scope(request.auth, _declared(view, request.method))
        return True


def require_scope(caller: Caller, scope: str | None) -> None:
    """Raise Forbidden unless the caller holds the scope. None, a method without a declared scope, is refused."""
    if scope is None:
        raise Forbidden(_("No key may do this here."))
    if scope not in caller.scopes:
        raise Forbidden(params={"scope": scope})


def _declared(view: APIView, method: str | None) -> str | None:
    declared: Mapping[str, str] = getattr(view, "required_scopes", {})
    return declared.get("GET" if method == "HEAD" else method or "")


def _handles(view: APIView, method: str | None) -> bool:
    name = (method or "").lower()
    return name in view.http_method_names and hasattr(view, name)
