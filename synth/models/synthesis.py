"""One run of an engine for one segment of one tenant: what engine workers claim."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from synth.models.states import OPEN, Priority, State
from tenants.ids import new_id
from tenants.models import Tenant


class Synthesis(models.Model):
    """At most one is open per tenant and `flight`, which is the segment key unless the work may not be shared.

    `attempt` fences the result: a worker publishes only while the row still has the attempt that it claimed.
    `characters` are what its tenant, and the key that asked first, are charged once it has succeeded; while it is open
    they are reserved.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    engine = models.CharField(_("engine"), max_length=64)
    model_version = models.CharField(_("model version"), max_length=128)
    key = models.CharField(_("segment key"), max_length=64)
    flight = models.CharField(max_length=128)
    segment = models.JSONField(_("segment"))
    category = models.CharField(_("category"), max_length=64, blank=True, default="")
    api_key_id = models.UUIDField(_("API key"), null=True)
    characters = models.PositiveIntegerField(_("characters charged"), default=0, db_default=0)
    stored = models.BooleanField(_("becomes an entry"), default=True)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.QUEUED)
    priority = models.PositiveSmallIntegerField(_("priority"), default=Priority.INTERACTIVE)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    worker = models.CharField(_("worker"), max_length=128, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    # Stamped when made: sentences are inserted in the order of their locks, and spoken in the order of the text.
    created_at = models.DateTimeField(_("queued"), default=timezone.now, editable=False)
    started_at = models.DateTimeField(_("started"), null=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    engine_seconds = models.FloatField(_("engine seconds"), null=True)
    digest = models.CharField(max_length=64, blank=True, default="")
    duration = models.FloatField(_("seconds"), null=True)
    error_code = models.CharField(_("error"), max_length=64, blank=True, default="")
    error_detail = models.TextField(blank=True, default="")

    class Meta:
        verbose_name = _("synthesis")
        verbose_name_plural = _("syntheses")
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "flight"], condition=models.Q(state__in=OPEN), name="one_open_synthesis_per_flight"
            )
        ]
        indexes = [
            models.Index(
                fields=["engine", "model_version", "priority", "tenant", "created_at"],
                condition=models.Q(state__in=OPEN),
                name="synthesis_claim",
            ),
            models.Index(fields=["tenant"], condition=models.Q(state=State.RUNNING), name="synthesis_running"),
            models.Index(fields=["tenant"], condition=models.Q(state__in=OPEN), name="synthesis_open_of_tenant"),
            models.Index(fields=["-created_at", "-id"], name="synthesis_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.engine} {self.key[:12]} {self.state}"
