"""Which admin user may see and steer one tenant alone. Users without such a row see all tenants."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.models.tenant import Tenant


class TenantBinding(models.Model):
    """PROTECT: were the row to go along with its tenant, the user would see all others."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="binding",
        verbose_name=_("user"),
    )
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", verbose_name=_("tenant"))

    class Meta:
        verbose_name = _("binding to one tenant")
        verbose_name_plural = _("bindings to one tenant")

    def __str__(self) -> str:
        return str(self.tenant)
