"""Why requests were no hits: counted by tenant and day, with the last examples. `service/missing.py` writes them."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from synth.models.job import Job
from tenants.ids import new_id
from tenants.models import Tenant


class MissDay(models.Model):
    """The misses of one tenant on one day (UTC), by reason; the columns are those of `metrics.MissReason`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    day = models.DateField(_("day"))
    first_seen = models.PositiveBigIntegerField(_("first seen"), default=0)
    near_miss = models.PositiveBigIntegerField(_("near miss"), default=0)
    expired = models.PositiveBigIntegerField(_("expired"), default=0)
    evicted = models.PositiveBigIntegerField(_("evicted"), default=0)
    purged = models.PositiveBigIntegerField(_("purged"), default=0)
    refreshed = models.PositiveBigIntegerField(_("refreshed"), default=0)
    model_changed = models.PositiveBigIntegerField(_("model changed"), default=0)
    bypassed = models.PositiveBigIntegerField(_("bypassed"), default=0)
    degraded = models.PositiveBigIntegerField(_("degraded"), default=0)
    unknown = models.PositiveBigIntegerField(_("unknown"), default=0)

    class Meta:
        verbose_name = _("misses of a day")
        verbose_name_plural = _("misses by day")
        ordering = ["-day", "-id"]
        constraints = [models.UniqueConstraint(fields=["tenant", "day"], name="one_miss_day")]
        indexes = [models.Index(fields=["-day", "-id"], name="miss_day_newest")]

    def __str__(self) -> str:
        return f"{self.day}"


class MissParameter(models.Model):
    """How often one parameter kept a request of that day from being a hit: `seed`, `text`, `format`, …"""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    day = models.DateField(_("day"))
    parameter = models.CharField(_("parameter"), max_length=32)
    misses = models.PositiveBigIntegerField(_("misses"), default=0)

    class Meta:
        ordering = ["-day", "-misses", "parameter"]
        constraints = [models.UniqueConstraint(fields=["tenant", "day", "parameter"], name="one_miss_parameter")]

    def __str__(self) -> str:
        return f"{self.parameter} on {self.day}"


class MissExample(models.Model):
    """One of the last misses of a tenant for a reason. What was said stands with its job's rendering alone.

    `nearest_id` is the rendering that came closest, `differences` what differed from it. No foreign key: to check one
    would wait for the workers that have it locked.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    reason = models.CharField(_("reason"), max_length=16)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+", verbose_name=_("job"))
    nearest_id = models.UUIDField(null=True)
    differences = models.JSONField(_("differences"), default=list)
    created_at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("example of a miss")
        verbose_name_plural = _("examples of misses")
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["tenant", "reason", "-created_at", "-id"], name="miss_example_newest"),
            models.Index(fields=["tenant", "-created_at", "-id"], name="miss_example_of_tenant"),
            models.Index(fields=["-created_at", "-id"], name="miss_example_all"),
        ]

    def __str__(self) -> str:
        return f"{self.reason} {self.created_at:%Y-%m-%d %H:%M:%S}"
