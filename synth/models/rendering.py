"""The assembly of one rendition, linked in order to its syntheses and stored segments: what io workers claim."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from synth.models.states import CLAIMABLE, OPEN, Priority, State
from synth.models.synthesis import Synthesis
from tenants.ids import new_id
from tenants.models import Tenant


class Rendering(models.Model):
    """At most one is open per tenant and `flight`, which is the rendition key unless the work may not be shared.

    WAITING until the last sentence is in, then QUEUED for an io worker. `attempt` fences the result.
    Of cache/misses.py: `likeness` is equal where texts differ in numbers alone, `replaced` is what stood there before.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    key = models.CharField(_("rendition key"), max_length=64)
    flight = models.CharField(max_length=128)
    spec = models.JSONField(_("spec"))
    api_key_id = models.UUIDField(_("API key"), null=True)
    category = models.CharField(_("category"), max_length=64, blank=True, default="")
    stored = models.BooleanField(_("becomes an entry"), default=True)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.WAITING)
    priority = models.PositiveSmallIntegerField(_("priority"), default=Priority.INTERACTIVE)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    worker = models.CharField(_("worker"), max_length=128, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    entry_id = models.UUIDField(null=True)
    digest = models.CharField(max_length=64, blank=True, default="")
    format = models.CharField(_("format"), max_length=16, blank=True, default="")
    media_type = models.CharField(max_length=64, blank=True, default="")
    size = models.PositiveBigIntegerField(_("bytes"), null=True)
    duration = models.FloatField(_("seconds"), null=True)
    sample_rate = models.PositiveIntegerField(null=True)
    likeness = models.CharField(max_length=32, blank=True, default="", editable=False)
    replaced = models.CharField(max_length=8, blank=True, default="", editable=False)
    error_code = models.CharField(_("error"), max_length=64, blank=True, default="")
    error_detail = models.TextField(blank=True, default="")
    error_repeats = models.BooleanField(default=False)

    class Meta:
        verbose_name = _("rendering")
        verbose_name_plural = _("renderings")
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "flight"], condition=models.Q(state__in=OPEN), name="one_open_rendering_per_flight"
            )
        ]
        indexes = [
            models.Index(fields=["priority", "created_at"], condition=models.Q(state__in=OPEN), name="rendering_claim"),
            models.Index(
                fields=["priority", "tenant", "created_at"],
                condition=models.Q(state__in=CLAIMABLE),
                name="rendering_turn",
            ),
            models.Index(fields=["-created_at", "-id"], name="rendering_newest"),
            models.Index(fields=["tenant", "likeness", "-created_at"], name="rendering_likeness"),
        ]

    def __str__(self) -> str:
        return f"rendering {self.key[:12]} {self.state}"


class RenderingPart(models.Model):
    """One sentence of a rendering, in order. `digest` is set once its audio is in storage."""

    rendering = models.ForeignKey(Rendering, on_delete=models.CASCADE, related_name="parts")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=64)
    synthesis = models.ForeignKey(Synthesis, on_delete=models.SET_NULL, null=True, related_name="parts")
    digest = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        ordering = ["rendering", "position"]
        constraints = [models.UniqueConstraint(fields=["rendering", "position"], name="one_part_per_position")]

    def __str__(self) -> str:
        return f"part {self.position} of {self.rendering_id}"
