"""A tenant's own voices, what happened to each, and what the tenant wants kept. Change them by `synth.service` only."""

from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from synth.models.locks import held
from synth.models.states import OPEN, State
from tenants.ids import new_id, parse_id, public_id
from tenants.models import Tenant


class ClonedVoice(models.Model):
    """A voice that speaks like an uploaded sound, and who allowed that.

    WAITING while the upload is being stored, then QUEUED for an io worker that decodes it. SUCCEEDED is ready; FAILED
    is refused, `error_code` and what follows it say why. CANCELED is deleted: the row goes once all that was made of it
    has gone. `same_as` names the voice that has this sound already. `attempt` fences the result.
    `sealed_by` is the id of the key that its files are sealed with.
    """

    class Upload(models.TextChoices):
        """DUE is to be deleted."""

        STORED = "stored", _("stored")
        KEPT = "kept", _("kept")
        DUE = "due", _("to be deleted")
        GONE = "gone", _("deleted")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    name = models.CharField(_("name"), max_length=64)
    engine = models.CharField(_("engine"), max_length=64)
    language = models.CharField(_("language"), max_length=16)
    transcript = models.TextField(_("transcript"), blank=True, default="")
    fingerprint = models.CharField(_("fingerprint"), max_length=64, blank=True, default="")
    digest = models.CharField(_("digest"), max_length=64, blank=True, default="")
    sealed_by = models.CharField(max_length=36, blank=True, default="", db_default="", editable=False)
    seconds = models.FloatField(_("seconds"), null=True)
    sample_rate = models.PositiveIntegerField(_("sample rate"), null=True)
    same_as = models.UUIDField(null=True)
    upload_digest = models.CharField(_("digest of the upload"), max_length=64)
    upload_size = models.PositiveIntegerField(_("bytes of the upload"))
    upload = models.CharField(_("upload"), max_length=8, choices=Upload.choices, default=Upload.STORED)
    consent_who = models.CharField(_("who consented"), max_length=200)
    consent_when = models.CharField(_("consented on"), max_length=40)
    consent_wording = models.TextField(_("wording of the consent"))
    api_key_id = models.UUIDField(_("API key"), null=True)
    request_id = models.CharField(_("request id"), max_length=64, blank=True, default="")
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.WAITING)
    error_code = models.CharField(_("reason"), max_length=64, blank=True, default="")
    error_detail = models.TextField(blank=True, default="")
    error_params = models.JSONField(default=dict)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    worker = models.CharField(_("worker"), max_length=128, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        verbose_name = _("voice")
        verbose_name_plural = _("voices")
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "engine", "name"], condition=Q(state=State.SUCCEEDED), name="one_voice_per_name"
            ),
            models.UniqueConstraint(
                fields=["tenant", "fingerprint"], condition=Q(state=State.SUCCEEDED), name="one_voice_per_sound"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="voice_tenant_newest"),
            models.Index(fields=["tenant", "fingerprint"], name="voice_fingerprint"),
            models.Index(fields=["created_at"], condition=Q(state__in=[*OPEN, State.CANCELED]), name="voice_open"),
            models.Index(fields=["created_at"], condition=Q(upload="due"), name="voice_upload_due"),
        ]

    def __str__(self) -> str:
        return f"{self.engine}/{self.name}"

    @property
    def public_id(self) -> str:
        return public_id("vox", self.id)

    @classmethod
    def of(cls, tenant_id: UUID, text: str) -> "ClonedVoice | None":
        """The tenant's voice with this public id; for an upload of a sound that it had already, the voice of that."""
        voice_id = parse_id("vox", text)
        there = cls.objects.filter(tenant_id=tenant_id).exclude(state__in=[State.WAITING, State.CANCELED])
        row = there.filter(id=voice_id).first() if voice_id else None
        if row is None or row.same_as is None:
            return row
        return there.filter(id=row.same_as).first()

    @classmethod
    def ready(cls, tenant_id: UUID, fingerprints: Any) -> models.QuerySet["ClonedVoice"]:
        return cls.objects.filter(tenant_id=tenant_id, fingerprint__in=fingerprints, state=State.SUCCEEDED)

    @classmethod
    def hold(cls, tenant_id: UUID, fingerprints: set[str]) -> bool:
        """Whether all of these are ready, and stay so until the end of the caller's transaction."""
        rows = cls.ready(tenant_id, fingerprints).order_by().values_list("fingerprint", flat=True)
        return held(rows, "SHARE") == fingerprints


class VoiceEvent(models.Model):
    """What happened to a voice, and by whom. Rows are only ever added, and outlive voice and tenant."""

    class Kind(models.TextChoices):
        CREATED = "created", _("created")
        REPEATED = "repeated", _("uploaded again")
        READY = "ready", _("ready")
        REFUSED = "refused", _("refused")
        DELETED = "deleted", _("deleted")
        ERASED = "erased", _("erased")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(
        Tenant, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", verbose_name=_("tenant")
    )
    voice_id = models.UUIDField(_("voice"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    name = models.CharField(_("name"), max_length=64)
    engine = models.CharField(_("engine"), max_length=64)
    fingerprint = models.CharField(_("fingerprint"), max_length=64, blank=True, default="")
    details = models.JSONField(_("details"), default=dict)
    api_key_id = models.UUIDField(_("API key"), null=True)
    user_name = models.CharField(_("user"), max_length=150, blank=True, default="")
    request_id = models.CharField(_("request id"), max_length=64, blank=True, default="")
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta:
        verbose_name = _("voice event")
        verbose_name_plural = _("voice events")
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["voice_id", "created_at"], name="voice_event_of_voice"),
            models.Index(fields=["-created_at", "-id"], name="voice_event_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.engine}/{self.name} {self.kind}"

    @property
    def voice_public_id(self) -> str:
        return public_id("vox", self.voice_id)


class VoiceSettings(models.Model):
    """What a tenant wants of its voices; without a row the defaults count. Change it by `synth.service` only."""

    tenant = models.OneToOneField(
        Tenant, on_delete=models.CASCADE, primary_key=True, related_name="+", verbose_name=_("tenant")
    )
    keep_uploads = models.BooleanField(
        _("keep uploads"),
        default=False,
        help_text=_(
            "The file as it was uploaded, beside the decoded sound. Otherwise it is deleted once it is decoded."
        ),
    )
    time_stretch = models.BooleanField(
        _("stretch in time"),
        default=False,
        db_default=False,
        help_text=_(
            "A duration that is asked of an engine which keeps none: its speech is stretched afterwards, instead of "
            "the request being refused."
        ),
    )

    class Meta:
        verbose_name = _("voice settings")
        verbose_name_plural = _("voice settings")

    def __str__(self) -> str:
        return str(self.tenant)
