"""The catalogue row of a stored segment or rendition: what is searched, heard, refreshed, pinned, purged."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id
from tenants.models import Tenant


class LiveEntries(models.Manager["Entry"]):
    """Leaves out what was purged, so that no query serves or lists it by oversight."""

    def get_queryset(self) -> models.QuerySet["Entry"]:
        return super().get_queryset().filter(purged_at=None)


class Entry(models.Model):
    """`key` is a rendition or segment key, `digest` names the object in storage, `made_at` is where a TTL starts.

    `spec` is that of a rendition, without its text. `references` are the fingerprints of the tenant's own voices that
    it sounds like, with a space between; `sealed_by` is the id of the key that its sound is sealed with. A purged one
    stays as a record without text, so that the next miss can tell why; `purge_number` is the tenant's number of the
    last change that Redis must not have missed. `previous_…` is the sound whose place this one took, for as long as
    URLs of it may run and storage has it.
    """

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
    api_key_id = models.UUIDField(_("API key"), null=True)
    category = models.CharField(_("category"), max_length=64, blank=True, default="")
    text = models.TextField(_("text"))
    spec = models.JSONField(_("spec"), null=True)
    digest = models.CharField(_("digest"), max_length=64)
    format = models.CharField(_("format"), max_length=16)
    media_type = models.CharField(_("media type"), max_length=64)
    size = models.PositiveBigIntegerField(_("bytes"))
    duration = models.FloatField(_("seconds"))
    sample_rate = models.PositiveIntegerField(_("sample rate"))
    made_at = models.DateTimeField(_("made"))
    pinned = models.BooleanField(_("pinned"), default=False)
    purged_at = models.DateTimeField(_("purged"), null=True)
    purge_number = models.PositiveBigIntegerField(null=True)
    sealed_by = models.CharField(max_length=36, blank=True, default="", db_default="", editable=False)
    references = models.CharField(max_length=128, blank=True, default="", editable=False)
    provenance = models.JSONField(_("provenance"), default=dict)
    previous_digest = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    previous_duration = models.FloatField(null=True, editable=False)
    previous_made_at = models.DateTimeField(null=True, editable=False)
    previous_until = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = LiveEntries()
    with_purged: models.Manager["Entry"] = models.Manager()

    class Meta:
        verbose_name = _("entry")
        verbose_name_plural = _("entries")
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["tenant", "kind", "key"], name="one_entry_per_key")]
        indexes = [
            models.Index(fields=["tenant", "digest"], name="entry_digest"),
            models.Index(fields=["-created_at", "-id"], name="entry_newest"),
            models.Index(fields=["tenant", "id"], name="entry_of_tenant"),
            # What may have expired for good: looked through by the scheduler, the oldest first.
            models.Index(fields=["made_at"], condition=Q(pinned=False), name="entry_oldest"),
            models.Index(fields=["tenant", "references"], condition=~Q(references=""), name="entry_references"),
            models.Index(
                fields=["tenant", "purge_number"], condition=Q(purge_number__isnull=False), name="entry_purge_number"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key[:12]}"
