"""The screens of admin users and their groups: who may do what, and who is bound to one tenant."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import StackedInline
from unfold.decorators import action
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from tenants import second_factor
from tenants.admin.bound import BoundAdmin
from tenants.models import TenantBinding

# What only a superuser gives: with them, an administrator would make a superuser of themselves.
SUPERUSERS_ALONE = ["is_superuser", "user_permissions"]

admin.site.unregister(User)
admin.site.unregister(Group)


class TenantBindingInline(StackedInline):
    model = TenantBinding
    autocomplete_fields = ["tenant"]
    verbose_name_plural = _("Bound to one tenant")
    extra = 0


@admin.register(User)
class UserAdmin(auth_admin.UserAdmin, BoundAdmin):  # type: ignore[type-arg]  # not generic at run time
    tenant_path = ""
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    inlines = [TenantBindingInline]
    actions = ["forget_second_factor"]

    def get_inlines(self, request: HttpRequest, obj: User | None = None) -> Any:
        return super().get_inlines(request, obj) if obj else []

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        readonly = super().get_readonly_fields(request, obj)
        return readonly if request.user.is_superuser else [*readonly, *SUPERUSERS_ALONE]

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return _is_in_reach(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return _is_in_reach(request, obj) and super().has_delete_permission(request, obj)

    @action(description=_("Forget the second factor, for who lost it"), permissions=["change"])
    def forget_second_factor(self, request: HttpRequest, users: QuerySet[User]) -> None:
        reached = [user for user in users if _is_in_reach(request, user)]
        for user in reached:
            second_factor.forget(user)
            self.log_change(request, user, "second factor forgotten")
        self.message_user(request, gettext("Forgotten: %d") % len(reached))


@admin.register(Group)
class GroupAdmin(auth_admin.GroupAdmin, BoundAdmin):
    tenant_path = ""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A group may hold any permission: who makes one gives what they may not have themselves."""
        return bool(request.user.is_superuser) and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return bool(request.user.is_superuser) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return bool(request.user.is_superuser) and super().has_delete_permission(request, obj)


def _is_in_reach(request: HttpRequest, user: User | None) -> bool:
    """A superuser is changed by superusers alone."""
    return bool(request.user.is_superuser) or user is None or not user.is_superuser
