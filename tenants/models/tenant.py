"""A customer of the platform: owns keys, settings and everything that is spoken for it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id
from tenants.models.quota import QuotaColumns
from tenants.models.rate import RateColumns
from tenants.types import TenantRef


class Tenant(RateColumns, QuotaColumns):
    """Change one through `tenants.service` only: it raises the snapshot version along with the change.

    `max_open_jobs` and `max_running` bound its queued and its running work: null takes the platform's default, 0 means
    no limit. `max_own_rules` and `max_own_ttl` bound the TTL rules that it makes itself (0: none, any).
    `audit_days`: null takes the platform's default, 0 keeps the audit for good.
    """

    class AuditText(models.TextChoices):
        FULL = "full", _("in full")
        HASH = "hash", _("as a hash")
        NONE = "none", _("not at all")

    class Status(models.TextChoices):
        ACTIVE = "active", _("active")
        SUSPENDED = "suspended", _("suspended")

    class Encryption(models.TextChoices):
        """Under which key its sounds are kept. OWN is sent with each request, and the platform has it then alone."""

        NONE = "none", _("none")
        PLATFORM = "platform", _("a key of the platform")
        OWN = "own", _("a key of its own")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(_("name"), max_length=200)
    slug = models.SlugField(_("slug"), max_length=80, unique=True)
    status = models.CharField(_("status"), max_length=16, choices=Status.choices, default=Status.ACTIVE)
    snapshot_version = models.PositiveBigIntegerField(_("snapshot version"), default=1, editable=False)
    max_open_jobs = models.PositiveIntegerField(_("open jobs"), null=True, blank=True)
    max_running = models.PositiveIntegerField(_("sentences spoken at a time"), null=True, blank=True)
    max_own_rules = models.PositiveSmallIntegerField(_("TTL rules of its own making"), null=True, blank=True)
    max_own_ttl = models.PositiveBigIntegerField(_("longest TTL of those, in seconds"), null=True, blank=True)
    encryption = models.CharField(
        _("encryption"), max_length=8, choices=Encryption.choices, default=Encryption.NONE, db_default=Encryption.NONE
    )
    audit_text = models.CharField(
        _("text in the audit"), max_length=8, choices=AuditText.choices, default=AuditText.HASH, db_default="hash"
    )
    audit_days = models.PositiveIntegerField(_("days that the audit is kept"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("tenant")
        verbose_name_plural = _("tenants")
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    @property
    def ref(self) -> TenantRef:
        return TenantRef(self.id)

    @property
    def is_active(self) -> bool:
        return self.status == self.Status.ACTIVE
