"""The columns of quotas, which tenants and keys both have, and the warnings that were given."""

from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id
from tenants.models.usage_day import NO_KEY
from tenants.quotas import MAX_QUOTA

WITHIN = [MaxValueValidator(MAX_QUOTA)]


class QuotaColumns(models.Model):
    """Null is the platform's default for a tenant, and none of its own for a key; 0 is no quota."""

    characters_per_day = models.PositiveBigIntegerField(_("characters a day"), null=True, blank=True, validators=WITHIN)
    characters_per_month = models.PositiveBigIntegerField(
        _("characters a month"), null=True, blank=True, validators=WITHIN
    )
    synthesis_per_day = models.PositiveBigIntegerField(
        _("characters synthesised a day"), null=True, blank=True, validators=WITHIN
    )
    synthesis_per_month = models.PositiveBigIntegerField(
        _("characters synthesised a month"), null=True, blank=True, validators=WITHIN
    )
    max_voices = models.PositiveBigIntegerField(_("own voices"), null=True, blank=True, validators=WITHIN)
    max_storage = models.PositiveBigIntegerField(_("bytes stored"), null=True, blank=True, validators=WITHIN)

    quotas_epoch = models.PositiveIntegerField(default=0, db_default=0, editable=False)

    class Meta:
        abstract = True


class QuotaWarning(models.Model):
    """A warning that was given: once for each quota, period and share of it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    api_key_id = models.UUIDField(_("API key"), default=NO_KEY)
    quota = models.CharField(_("quota"), max_length=32)
    begins = models.DateField(_("period begins"))
    percent = models.PositiveSmallIntegerField(_("percent"))
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta:
        verbose_name = _("quota warning")
        verbose_name_plural = _("quota warnings")
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "api_key_id", "quota", "begins", "percent"], name="one_quota_warning"
            )
        ]

    def __str__(self) -> str:
        return f"{self.quota} {self.percent} %"
