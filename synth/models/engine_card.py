"""An engine's card as published by its workers. One version of an engine is current at a time."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id


class EngineCardRow(models.Model):
    """`card` is `synth.types.EngineCard` as JSON; `synth.cards` reads and writes it.

    Of the versions whose workers live the newest by `created_at` is current, so that a restart of an old worker
    during a rolling upgrade does not flap the keys.

    `replaced_at` is set while sounds of a version that was current may still be served, until they are made anew;
    `remade_by` is the action that does so.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(_("engine"), max_length=64)
    model_version = models.CharField(_("model version"), max_length=128)
    card = models.JSONField(_("card"), default=dict)
    current = models.BooleanField(_("current"), default=False)
    problem = models.TextField(_("problem"), blank=True, default="")
    created_at = models.DateTimeField(_("first published"), auto_now_add=True)
    seen_at = models.DateTimeField(_("last seen"), null=True)
    replaced_at = models.DateTimeField(_("replaced"), null=True)
    remade_by = models.UUIDField(null=True)

    class Meta:
        verbose_name = _("engine card")
        verbose_name_plural = _("engine cards")
        ordering = ["name", "-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["name", "model_version"], name="one_card_per_engine_version"),
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(current=True), name="one_current_version_per_engine"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.model_version}"
