"""The catalogue row of a stored segment or rendition: what is searched, heard, refreshed, pinned, purged."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id
from tenants.models import Tenant


class Entry(models.Model):
    """`key` is a rendition or segment key, `digest` names the object in storage, `made_at` is where a TTL starts."""

    class Kind(models.TextChoices):
        SEGMENT = "segment", _("sentence")
        RENDITION = "rendition", _("rendition")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    key = models.CharField(_("key"), max_length=64)
    engine = models.CharField(_("engine"), max_length=64)
    model_version = models.CharField(_("model version"), max_length=128)
    voice = models.CharField(_("voice"), max_length=128)
    category = models.CharField(_("category"), max_length=64, blank=True, default="")
    text = models.TextField(_("text"))
    digest = models.CharField(_("digest"), max_length=64)
    format = models.CharField(_("format"), max_length=16)
    media_type = models.CharField(_("media type"), max_length=64)
    size = models.PositiveBigIntegerField(_("bytes"))
    duration = models.FloatField(_("seconds"))
    sample_rate = models.PositiveIntegerField(_("sample rate"))
    made_at = models.DateTimeField(_("made"))
    provenance = models.JSONField(_("provenance"), default=dict)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("entry")
        verbose_name_plural = _("entries")
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["tenant", "kind", "key"], name="one_entry_per_key")]
        indexes = [
            models.Index(fields=["tenant", "digest"], name="entry_digest"),
            models.Index(fields=["-created_at", "-id"], name="entry_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key[:12]}"
