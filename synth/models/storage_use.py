"""How many bytes a tenant has stored, and of them those of each key: measured now and then, and added to in between."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id
from tenants.models import Tenant
from tenants.models.usage_day import NO_KEY


class StorageUse(models.Model):
    """The row without a key is the tenant's. `service/storage_use.py` keeps those of tenants that have a quota."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    api_key_id = models.UUIDField(_("API key"), default=NO_KEY)
    size = models.BigIntegerField(_("bytes"))
    measured_at = models.DateTimeField(_("measured"))

    class Meta:
        verbose_name = _("storage used")
        verbose_name_plural = _("storage used")
        ordering = ["tenant", "api_key_id"]
        constraints = [models.UniqueConstraint(fields=["tenant", "api_key_id"], name="one_storage_use")]

    def __str__(self) -> str:
        return f"{self.size} bytes"
