"""An API key as it is kept: its public look-up part and a keyed digest, never the token."""

from datetime import datetime

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id, public_id
from tenants.keys import LOOKUP_LENGTH, PREFIX, KeyRecord
from tenants.limits import limit_of
from tenants.models.quota import QuotaColumns
from tenants.models.rate import RateColumns
from tenants.models.tenant import Tenant
from tenants.quotas import quotas_of


class ApiKey(RateColumns, QuotaColumns):
    """Change one through `tenants.service` only: it raises the tenant's snapshot version along with the change."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="api_keys", verbose_name=_("tenant"))
    name = models.CharField(_("name"), max_length=200)
    kind = models.CharField(_("kind"), max_length=8)
    lookup = models.CharField(_("look-up part"), max_length=LOOKUP_LENGTH, unique=True)
    digest = models.CharField(max_length=64)
    pepper = models.PositiveIntegerField(_("pepper number"))
    scopes = models.JSONField(_("scopes"), default=list)
    max_open_jobs = models.PositiveIntegerField(_("open jobs"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    made_by_id = models.UUIDField(_("made by the key"), null=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint})"

    @property
    def public_id(self) -> str:
        return public_id("key", self.id)

    @property
    def hint(self) -> str:
        """The part of the token that may be shown at any time."""
        return f"{PREFIX}_{self.kind}_{self.lookup}"

    @property
    def record(self) -> KeyRecord:
        """This row as a value. Reads the tenant: select it along."""
        return KeyRecord(
            id=self.id,
            tenant_id=self.tenant_id,
            lookup=self.lookup,
            digest=self.digest,
            pepper=self.pepper,
            scopes=frozenset(self.scopes),
            expires_at=self.expires_at,
            revoked_at=self.revoked_at,
            tenant_active=self.tenant.is_active,
            limit=limit_of(self.rate_limit, self.rate_burst),
            quotas=quotas_of(self),
            max_open_jobs=self.max_open_jobs or 0,
        )

    def state_at(self, now: datetime) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if self.record.usable_at(now) else "expired"
