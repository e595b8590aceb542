"""The app that knows who is calling and what they may do; it knows nothing of speech."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class TenantsConfig(AppConfig):
    name = "tenants"
    verbose_name = _("Tenants")
    changed_by = "administrator"

    def ready(self) -> None:
        """Make the roles of admin users, once there are permissions to give them."""
        from tenants.operators import make_roles

        post_migrate.connect(make_roles, dispatch_uid="tenants.make_roles")
