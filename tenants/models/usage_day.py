"""What was used by day: the sums of Usage, and of the characters that engines spoke. `tenants.usage` adds to them."""

from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

# What belongs to no key: gaps, and work that the platform did of itself.
NO_KEY = UUID(int=0)
SPOKEN = "spoken"


class UsageDay(models.Model):
    """One row a day (UTC), tenant, key, engine, voice, outcome and state. Rows outlive their tenant, as usage does.

    `requests`, `characters` and `seconds` of sound are those of requests. `synthesised` are characters of sentences
    that engines spoke, once each however many waited for them: rows whose outcome is `spoken` hold these, and nothing
    else.
    """

    id = models.BigAutoField(primary_key=True)
    day = models.DateField(_("day"))
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", verbose_name=_("tenant")
    )
    api_key_id = models.UUIDField(_("API key"), default=NO_KEY)
    engine = models.CharField(_("engine"), max_length=64, blank=True, default="")
    voice = models.CharField(_("voice"), max_length=128, blank=True, default="")
    outcome = models.CharField(_("outcome"), max_length=16)
    state = models.CharField(_("state"), max_length=16, default="succeeded")
    requests = models.BigIntegerField(_("requests"), default=0)
    characters = models.BigIntegerField(_("characters"), default=0)
    synthesised = models.BigIntegerField(_("characters spoken by engines"), default=0)
    seconds = models.FloatField(_("seconds"), default=0.0)

    class Meta:
        verbose_name = _("day of usage")
        verbose_name_plural = _("days of usage")
        ordering = ["-day", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "day", "api_key_id", "engine", "voice", "outcome", "state"], name="one_usage_day"
            )
        ]
        indexes = [models.Index(fields=["day"], name="usage_day_day")]

    def __str__(self) -> str:
        return f"{self.outcome} on {self.day}"
