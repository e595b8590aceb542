"""One tenant request that could not be answered at once. Many jobs may wait on one rendering."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from synth.models.rendering import Rendering
from synth.models.states import OPEN, Priority, State
from synth.models.webhook import WebhookEndpoint
from tenants.ids import new_id, public_id
from tenants.models import Tenant


class Job(models.Model):
    """What was asked for and how it ended. The sound itself is the rendering's.

    `miss_reason` is empty until `service/missing.py` has looked at it. `callback` is told of its end, at `callback_url`
    where that is not the endpoint's own.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    api_key_id = models.UUIDField(_("API key"), null=True)
    request_id = models.CharField(_("request id"), max_length=64, blank=True, default="")
    rendering = models.ForeignKey(Rendering, on_delete=models.PROTECT, related_name="jobs")
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.QUEUED)
    priority = models.PositiveSmallIntegerField(_("priority"), default=Priority.INTERACTIVE)
    cache = models.CharField(_("cache mode"), max_length=16)
    engine = models.CharField(_("engine"), max_length=64)
    voice = models.CharField(_("voice"), max_length=128)
    language = models.CharField(_("language"), max_length=16)
    category = models.CharField(_("category"), max_length=64, blank=True, default="")
    characters = models.PositiveIntegerField(_("characters"))
    metadata = models.JSONField(_("metadata"), default=dict)
    callback = models.ForeignKey(
        WebhookEndpoint, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("callback")
    )
    callback_url = models.CharField(max_length=2000, blank=True, default="", db_default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    error_code = models.CharField(_("error"), max_length=64, blank=True, default="")
    error_detail = models.TextField(blank=True, default="")
    accounted = models.BooleanField(_("usage is written"), default=False, editable=False)
    degraded = models.BooleanField(_("asked while Redis was away"), default=False, editable=False)
    miss_reason = models.CharField(_("reason of the miss"), max_length=16, blank=True, default="", editable=False)

    class Meta:
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="job_tenant_newest"),
            models.Index(fields=["rendering"], condition=models.Q(state__in=OPEN), name="job_open_of_rendering"),
            models.Index(fields=["tenant", "priority"], condition=models.Q(state__in=OPEN), name="job_open_of_tenant"),
            models.Index(fields=["-created_at", "-id"], name="job_newest"),
            models.Index(
                fields=["ended_at"],
                condition=models.Q(accounted=False, ended_at__isnull=False),
                name="job_not_accounted",
            ),
            models.Index(fields=["created_at"], condition=models.Q(miss_reason=""), name="job_not_judged"),
        ]

    def __str__(self) -> str:
        return f"job {self.id} {self.state}"

    @property
    def public_id(self) -> str:
        return public_id("job", self.id)
