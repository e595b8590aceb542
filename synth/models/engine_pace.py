"""How fast a version of an engine speaks a language, as its kept sounds told: the quality gate holds new ones to it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id


class EnginePace(models.Model):
    """`synth.audio.pace.Paces` by engine, version and language; `synth.paces` reads and writes it.

    Deleting a row lets the range be learned anew.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    engine = models.CharField(_("engine"), max_length=64)
    model_version = models.CharField(_("model version"), max_length=128)
    language = models.CharField(_("language"), max_length=35)
    count = models.PositiveIntegerField(_("sounds"), default=0)
    mean = models.FloatField(default=0.0)
    squares = models.FloatField(default=0.0)

    class Meta:
        verbose_name = _("pace of an engine")
        verbose_name_plural = _("paces of engines")
        ordering = ["engine", "model_version", "language"]
        constraints = [
            models.UniqueConstraint(fields=["engine", "model_version", "language"], name="one_pace_per_language")
        ]

    def __str__(self) -> str:
        return f"{self.engine} {self.language}"
