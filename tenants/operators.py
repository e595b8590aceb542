"""Admin users: whether one is bound to a single tenant, and the roles that they are given. The admin asks here."""

from __future__ import annotations

from typing import Any, Final

from django.apps import AppConfig
from django.contrib.auth.models import Group, Permission
from django.http import HttpRequest

from tenants.models import TenantBinding
from tenants.types import TenantRef

VIEWER: Final = "viewer"
OPERATOR: Final = "operator"
ADMINISTRATOR: Final = "administrator"
# Each may do what those before it may, and more.
ROLES: Final = (VIEWER, OPERATOR, ADMINISTRATOR)
USERS = "auth"
_KNOWN = "_refrain_bound_to"


def bound_to(request: HttpRequest) -> TenantRef | None:
    """The one tenant that the user of this request may see; None for all. Looked up once a request."""
    user: Any = request.user
    if not hasattr(user, _KNOWN):
        binding = TenantBinding.objects.filter(user_id=user.pk).first() if user.pk else None
        setattr(user, _KNOWN, TenantRef(binding.tenant_id) if binding else None)
    found: TenantRef | None = getattr(user, _KNOWN)
    return found


def make_roles(sender: AppConfig, using: str, **_signal: Any) -> None:
    """After each migration: the groups, with every permission of the app's models that their role is to have.

    An app says who may change its rows (`changed_by` of its configuration); those of other apps are for superusers.
    Nothing is taken away, so a group may be given more; who is to have less gets a group of another name.
    """
    changed_by = ADMINISTRATOR if sender.label == USERS else getattr(sender, "changed_by", None)
    if changed_by is None or using != "default":
        return
    permissions = list(Permission.objects.filter(content_type__app_label=sender.label).select_related("content_type"))
    for role in ROLES:
        group, _made = Group.objects.get_or_create(name=role)
        group.permissions.add(*(item for item in permissions if _may(role, changed_by, item)))


def _may(role: str, changed_by: str, permission: Permission) -> bool:
    if ROLES.index(role) >= ROLES.index(changed_by):
        return True
    # Of users and groups, only those learn who may change them.
    return permission.codename.startswith("view_") and permission.content_type.app_label != USERS
