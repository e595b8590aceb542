"""What each request used: one row a request, whether the cache answered it or an engine worked for it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.models.tenant import Tenant

GAP = "gap"


class Usage(models.Model):
    """`id` is the request's for what the cache answered, else the job's: to write a row again changes nothing.

    `outcome` is hit, stale, restored, miss, refresh or bypass, and refused, which counts for nothing, for a hit whose
    sound the tenant's own key did not open; `state` is how the work ended. A row whose outcome is `gap` stands for
    `count` hits whose events Redis had to drop. Rows outlive their tenant: what was used stays true.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey(
        Tenant, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", verbose_name=_("tenant")
    )
    api_key_id = models.UUIDField(_("API key"), null=True)
    at = models.DateTimeField(_("time"))
    outcome = models.CharField(_("outcome"), max_length=16)
    state = models.CharField(_("state"), max_length=16, default="succeeded")
    count = models.PositiveBigIntegerField(_("requests"), default=1)
    engine = models.CharField(_("engine"), max_length=64, blank=True, default="")
    voice = models.CharField(_("voice"), max_length=128, blank=True, default="")
    language = models.CharField(_("language"), max_length=16, blank=True, default="")
    category = models.CharField(_("category"), max_length=64, blank=True, default="")
    delivery = models.CharField(_("delivery"), max_length=8, blank=True, default="")
    characters = models.PositiveIntegerField(_("characters"), default=0)
    duration = models.FloatField(_("seconds"), null=True)
    request_id = models.CharField(_("request id"), max_length=64, blank=True, default="")

    class Meta:
        verbose_name = _("usage")
        verbose_name_plural = _("usage")
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="usage_tenant_newest"),
            models.Index(fields=["-at", "-id"], name="usage_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} {self.at:%Y-%m-%d %H:%M:%S}"
