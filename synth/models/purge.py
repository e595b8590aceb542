"""What follows a purge: the number that Redis must have reached, and objects that nothing needs any more."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id
from tenants.models import Tenant


class PurgeNumber(models.Model):
    """Counts the changes of a tenant's catalogue by which a copy in Redis becomes wrong.

    Raised in the transaction of the change, which keeps the row locked until its commit: whoever sees a number sees
    every change up to it.
    """

    tenant = models.OneToOneField(Tenant, on_delete=models.CASCADE, primary_key=True, related_name="+")
    number = models.PositiveBigIntegerField(default=0)
    raised_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.tenant_id} {self.number}"


class DiscardedObject(models.Model):
    """An object that an entry no longer names. URLs of it may still run: it is deleted after `not_before`.

    `deleting_until` is the lease of the sweeper that is at it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    digest = models.CharField(_("digest"), max_length=64)
    format = models.CharField(_("format"), max_length=16)
    not_before = models.DateTimeField()
    deleting_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "digest", "format"], name="one_discard_per_object")]
        indexes = [models.Index(fields=["not_before"], name="discarded_due")]

    def __str__(self) -> str:
        return f"{self.digest[:12]}.{self.format}"
