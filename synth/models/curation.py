"""What is done entry by entry or line by line: purges, refreshes, pins, warmings, changes of a model, and batches, with
their progress. The row is the event.
"""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from synth.models.states import OPEN, State
from synth.models.webhook import WebhookEndpoint
from tenants.ids import new_id, public_id
from tenants.models import Tenant


class CurationAction(models.Model):
    """Without a tenant it is an operator's, over all of them. `selection` says which entries; `matched` how many.

    WAITING while its lines are still being stored. `cursor` is the last entry that is dealt with. `metadata` and
    `callback` are a batch's; so is `refused`, the lines that were wrong from the first.
    """

    class Kind(models.TextChoices):
        PURGE = "purge", _("purge")
        REFRESH = "refresh", _("refresh")
        PIN = "pin", _("pin")
        UNPIN = "unpin", _("unpin")
        EXTEND = "extend", _("extend")
        WARM = "warm", _("warm")
        MODEL_CHANGE = "model_change", _("model change")
        BATCH = "batch", _("batch")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, null=True, related_name="+", verbose_name=_("tenant"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    selection = models.JSONField(_("selection"), default=dict)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.QUEUED)
    matched = models.PositiveIntegerField(_("matched"), default=0)
    done = models.PositiveIntegerField(_("done"), default=0)
    cached = models.PositiveIntegerField(_("already cached"), default=0)
    failed = models.PositiveIntegerField(_("failed"), default=0)
    refused = models.PositiveIntegerField(_("refused"), default=0, db_default=0)
    metadata = models.JSONField(_("metadata"), null=True)
    callback = models.ForeignKey(WebhookEndpoint, on_delete=models.SET_NULL, null=True, related_name="+")
    callback_url = models.CharField(max_length=2000, blank=True, default="", db_default="")
    cursor = models.UUIDField(null=True)
    api_key_id = models.UUIDField(_("API key"), null=True)
    user_name = models.CharField(_("user"), max_length=150, blank=True, default="")
    request_id = models.CharField(_("request id"), max_length=64, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        verbose_name = _("cache action")
        verbose_name_plural = _("cache actions")
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="curation_tenant_newest"),
            models.Index(fields=["created_at"], condition=Q(state__in=OPEN), name="curation_open"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def public_id(self) -> str:
        return public_id("bat" if self.kind == self.Kind.BATCH else "act", self.id)


class Batch(CurationAction):
    """The same rows: batches have a screen of their own in the admin."""

    class Meta:
        proxy = True
        verbose_name = _("batch")
        verbose_name_plural = _("batches")


class CurationLine(models.Model):
    """One sound that an action has made: a line of a list, or an entry that is refreshed.

    WAITING for its turn, OPEN while its job is, else how it ended. Once an action has ended, its failures alone stay;
    of a batch, all lines do: they are its result.
    """

    class Outcome(models.TextChoices):
        WAITING = "waiting", _("waiting")
        OPEN = "open", _("being made")
        DONE = "done", _("done")
        CACHED = "cached", _("already cached")
        FAILED = "failed", _("failed")
        REFUSED = "refused", _("refused")
        CANCELED = "canceled", _("canceled")

    action = models.ForeignKey(CurationAction, on_delete=models.CASCADE, related_name="lines")
    number = models.PositiveIntegerField(_("line"))
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    entry_id = models.UUIDField(null=True)
    payload = models.JSONField(null=True)
    outcome = models.CharField(max_length=8, choices=Outcome.choices, default=Outcome.WAITING)
    job_id = models.UUIDField(null=True)
    error_code = models.CharField(_("error"), max_length=64, blank=True, default="")
    error_detail = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["action", "number"]
        constraints = [models.UniqueConstraint(fields=["action", "number"], name="one_line_per_number")]
        indexes = [models.Index(fields=["action", "outcome", "number"], name="curation_line_next")]

    def __str__(self) -> str:
        return f"line {self.number} of {self.action_id}"


class CurationBlock(models.Model):
    """Lines of a list that are still far from their turn, many in one row: so that a long list is taken quickly.

    `first` is the number of the first; the block is deleted in the transaction that makes lines of it.
    """

    action = models.ForeignKey(CurationAction, on_delete=models.CASCADE, related_name="blocks")
    first = models.PositiveIntegerField()
    lines = models.JSONField()

    class Meta:
        ordering = ["action", "first"]
        constraints = [models.UniqueConstraint(fields=["action", "first"], name="one_block_per_number")]

    def __str__(self) -> str:
        return f"lines from {self.first} of {self.action_id}"
