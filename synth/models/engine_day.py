"""What an engine did for a tenant on one day, and what it was spared: savings are worked out from these."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id
from tenants.models import Tenant


class EngineDay(models.Model):
    """Days are UTC. `synth.engine_time` adds what was run and reused; `synth.hits` sets the hits once a day is over.

    Runs are those whose sound was kept, with the characters of their sentences. Reused is what misses needed and
    no run was made for: sentences that were stored, and whole texts that were being made for somebody else already.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    engine = models.CharField(_("engine"), max_length=64)
    day = models.DateField(_("day"))
    runs = models.PositiveBigIntegerField(_("runs"), default=0)
    characters = models.PositiveBigIntegerField(_("characters"), default=0)
    engine_seconds = models.FloatField(_("engine seconds"), default=0.0)
    audio_seconds = models.FloatField(_("seconds of audio"), default=0.0)
    reused_characters = models.PositiveBigIntegerField(_("characters reused"), default=0)
    hits = models.PositiveBigIntegerField(_("hits"), default=0)
    hit_characters = models.PositiveBigIntegerField(_("characters of hits"), default=0)

    class Meta:
        verbose_name = _("day of an engine")
        verbose_name_plural = _("savings")  # what its page shows
        ordering = ["-day", "engine"]
        constraints = [models.UniqueConstraint(fields=["tenant", "engine", "day"], name="one_engine_day")]
        indexes = [models.Index(fields=["day", "engine"], name="engine_day_day")]

    def __str__(self) -> str:
        return f"{self.engine} on {self.day}"


class CountedDay(models.Model):
    """A day whose hits stand in EngineDay: usage, a row a request, is not summed up again for it."""

    day = models.DateField(_("day"), primary_key=True)
    counted_at = models.DateTimeField(_("counted"), auto_now_add=True)

    class Meta:
        verbose_name = _("counted day")
        verbose_name_plural = _("counted days")
        ordering = ["-day"]

    def __str__(self) -> str:
        return str(self.day)
