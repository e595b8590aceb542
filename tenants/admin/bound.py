"""The base of every admin screen: an operator who is bound to one tenant sees and steers that tenant's rows alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.forms import Field
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern
from unfold.admin import ModelAdmin

from tenants.models import Tenant
from tenants.operators import bound_to

View = Callable[..., HttpResponse]


class BoundAdmin(ModelAdmin):
    """`tenant_path` leads from a row to its tenant. Empty: rows of the platform, hidden from operators of one tenant.

    Lists, pages, actions, autocompletion and exports start from `get_queryset`; addresses with an id are checked
    besides, since what answers there may look its row up by itself.
    """

    tenant_path = "tenant"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        tenant = bound_to(request)
        if tenant is None:
            return rows
        return rows.filter(**{self.tenant_path: tenant.id}) if self.tenant_path else rows.none()

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Without the choice of a tenant where there is none."""
        filters = super().get_list_filter(request)
        if bound_to(request) is None:
            return filters
        return [item for item in filters if (item[0] if isinstance(item, tuple) else item) != self.tenant_path]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field is not None and db_field.related_model is Tenant:
            limit_tenants(field, request)
        return field

    # --- Permissions: of rows that belong to no tenant, an operator of one has none ---------------------------------

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.is_for(request) and bool(super().has_module_permission(request))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_for(request) and bool(super().has_view_permission(request, obj))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.is_for(request) and bool(super().has_add_permission(request))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_for(request) and bool(super().has_change_permission(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_for(request) and bool(super().has_delete_permission(request, obj))

    def is_for(self, request: HttpRequest) -> bool:
        return bool(self.tenant_path) or bound_to(request) is None

    # --- Addresses --------------------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        urls: list[URLPattern] = super().get_urls()
        for pattern in urls:
            pattern.callback = self._guarded(pattern.callback)
        return urls

    def _guarded(self, view: View) -> View:
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if bound_to(request) is not None:
                self._check(request, kwargs.get("object_id"))
            return view(request, *args, **kwargs)

        return update_wrapper(guarded, view)

    def _check(self, request: HttpRequest, object_id: str | None) -> None:
        """Raise unless this address is for the operator of one tenant."""
        if not self.tenant_path:
            raise PermissionDenied
        if object_id is not None and not self._is_there(request, unquote(str(object_id))):
            raise Http404

    def _is_there(self, request: HttpRequest, object_id: str) -> bool:
        try:
            return self.get_queryset(request).filter(pk=object_id).exists()
        except (ValidationError, ValueError):  # no id of such a row
            return False


def limit_tenants(field: Field, request: HttpRequest) -> None:
    """A field that names a tenant: for an operator of one it takes that one, and must be given."""
    tenant = bound_to(request)
    if tenant is None:
        return
    choice: Any = field
    choice.queryset = Tenant.objects.filter(id=tenant.id)
    choice.required = True
    choice.initial = tenant.id
    choice.empty_label = None
