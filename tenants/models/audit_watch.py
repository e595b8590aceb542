"""What the watch over the audit remembers: how far it looked, what is usual for each actor, and what was unusual."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.models.tenant import Tenant


class AuditWatch(models.Model):
    """One row, `id` 1: events up to `looked_until` were looked at. Its row is the lock of who looks."""

    id = models.PositiveSmallIntegerField(primary_key=True)
    looked_until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.looked_until:%Y-%m-%d %H:%M:%S}"


class UsualPace(models.Model):
    """How many events a minute an actor makes, as a running mean over `minutes`."""

    actor_id = models.CharField(primary_key=True, max_length=64)
    mean = models.FloatField(default=0.0)
    minutes = models.PositiveIntegerField(default=0)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.actor_id


class KnownAddress(models.Model):
    """An address that an API key was used from."""

    actor_id = models.CharField(max_length=64)
    address = models.CharField(max_length=64)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["actor_id", "address"], name="one_known_address")]
        indexes = [
            models.Index(fields=["first_at"], name="address_first"),
            models.Index(fields=["last_at"], name="address_last"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_id} {self.address}"


class AuditFlag(models.Model):
    """Something unusual that an actor did, at most once an hour of each kind. `numbers` says what was seen."""

    class Kind(models.TextChoices):
        NEW_ADDRESSES = "new_addresses", _("many new addresses")
        BURST = "burst", _("a burst over its own pace")
        MISSING_IDS = "missing_ids", _("a scan of missing ids")
        REFUSALS = "refusals", _("many refusals")

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey(
        Tenant, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+", verbose_name=_("tenant")
    )
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    actor_id = models.CharField(_("actor"), max_length=64)
    actor_name = models.CharField(_("name"), max_length=200, blank=True)
    at = models.DateTimeField(_("time"))
    numbers = models.JSONField(_("numbers"), default=dict)

    class Meta:
        verbose_name = _("unusual use")
        verbose_name_plural = _("unusual use")
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["-at", "-id"], name="audit_flag_newest")]

    def __str__(self) -> str:
        return f"{self.kind} {self.actor_id}"
