"""A process that has an engine loaded, as it tells of itself with each sign of life."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id


class EngineWorker(models.Model):
    """`synth.health` writes it. A worker that was killed leaves its row, which the others clear away later."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(_("worker"), max_length=128)
    engine = models.CharField(_("engine"), max_length=64)
    model_version = models.CharField(_("model version"), max_length=128)
    loaded = models.BooleanField(_("model in memory"), default=True)
    device = models.CharField(_("device"), max_length=64, blank=True, default="")
    memory = models.PositiveBigIntegerField(_("memory in bytes"), default=0)
    device_memory = models.PositiveBigIntegerField(_("device memory in bytes"), default=0)
    real_time_factor = models.FloatField(_("real-time factor"), null=True)
    seen_at = models.DateTimeField(_("last seen"))

    class Meta:
        verbose_name = _("engine worker")
        verbose_name_plural = _("engine workers")
        ordering = ["engine", "name"]
        constraints = [models.UniqueConstraint(fields=["name", "engine"], name="one_row_per_worker_and_engine")]

    def __str__(self) -> str:
        return f"{self.engine} {self.name}"
