"""The keys of a tenant: the platform's for it, wrapped, and the ids of those that it keeps itself."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.encryption import ID_CHARACTERS, PLATFORM
from tenants.ids import new_id, public_id
from tenants.models.tenant import Tenant


class DataKey(models.Model):
    """A key that the platform seals a tenant's things with. `wrapped` opens with one of REFRAIN_ENCRYPTION_KEYS.

    Sealed objects name it by `key_id`, so it stays for as long as there are any; to re-wrap it changes no object.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    wrapped = models.CharField(max_length=200)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("data key")
        verbose_name_plural = _("data keys")
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.key_id

    @property
    def key_id(self) -> str:
        return public_id(PLATFORM, self.id)


class OwnKey(models.Model):
    """That a tenant has registered a key of its own: its id alone, which tells nothing of the key."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    key_id = models.CharField(_("key id"), max_length=ID_CHARACTERS)
    name = models.CharField(_("name"), max_length=200, blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("encryption key")
        verbose_name_plural = _("encryption keys")
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["tenant", "key_id"], name="one_row_per_own_key")]

    def __str__(self) -> str:
        return self.key_id
