"""Where tenants are told what happened, what there was to tell, and every try of telling it.

An event is written in the transaction that ends the work; its deliveries are rows of their own, so that what the broker
or a worker loses is found again.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from synth.models.locks import held
from synth.models.states import OPEN, State
from tenants.ids import new_id, public_id
from tenants.models import Tenant


class EventType(models.TextChoices):
    """What a tenant can be told of: service/webhooks/routing.py says who is told of which. TEST is sent by hand."""

    SPEECH_SUCCEEDED = "speech.succeeded", _("speech succeeded")
    SPEECH_FAILED = "speech.failed", _("speech failed")
    SPEECH_CANCELED = "speech.canceled", _("speech canceled")
    BATCH_COMPLETED = "batch.completed", _("batch completed")
    VOICE_READY = "voice.ready", _("voice ready")
    VOICE_FAILED = "voice.failed", _("voice failed")
    CACHE_REFRESHED = "cache.refreshed", _("cache refreshed")
    QUOTA_WARNING = "quota.warning", _("quota warning")
    TEST = "webhook.test", _("test")


class WebhookEndpoint(models.Model):
    """An address of a tenant, and the secrets that sign what is sent there.

    `secrets` are sealed (webhooks/signing.py), the newest first: {"sealed": …, "until": …}, the time in ISO 8601 until
    which it still signs, null for the newest. `events` are the types that it takes, none for all. `any_path`: requests
    may name other addresses of this scheme, host and port as their callback. `failing_since` is the first failure after
    the last success.
    """

    class Status(models.TextChoices):
        ENABLED = "enabled", _("enabled")
        DISABLED = "disabled", _("disabled")

    class Reason(models.TextChoices):
        """Why it is disabled: the tenant or an operator did it, the receiver answered 410, or it failed for days."""

        NONE = "", _("none")
        BY_HAND = "by_hand", _("by hand")
        GONE = "gone", _("the receiver is gone")
        FAILING = "failing", _("failing for days")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    url = models.CharField(_("URL"), max_length=2000)
    description = models.CharField(_("description"), max_length=200, blank=True, default="")
    events = models.JSONField(_("events"), default=list, blank=True)
    any_path = models.BooleanField(_("callbacks to other paths"), default=False)
    secrets = models.JSONField(default=list, editable=False)
    status = models.CharField(_("status"), max_length=16, choices=Status.choices, default=Status.ENABLED)
    disabled_reason = models.CharField(
        _("reason"), max_length=16, choices=Reason.choices, blank=True, default=Reason.NONE
    )
    disabled_at = models.DateTimeField(_("disabled"), null=True, editable=False)
    failing_since = models.DateTimeField(_("failing since"), null=True, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["tenant", "-created_at", "-id"], name="endpoint_tenant_newest")]

    def __str__(self) -> str:
        return self.url

    @property
    def public_id(self) -> str:
        return public_id("whk", self.id)

    @classmethod
    def hold(cls, ids: Collection[UUID]) -> set[UUID]:
        """Those of these that are there, and stay so until the end of the caller's transaction, which names them."""
        if not ids:
            return set()
        return held(cls.objects.filter(id__in=ids).order_by("id").values_list("id", flat=True), "KEY SHARE")

    def signing_secrets(self, now: datetime) -> list[dict[str, Any]]:
        """Those of its sealed secrets that sign at this time, the newest first."""
        return [kept for kept in self.secrets if not kept["until"] or datetime.fromisoformat(kept["until"]) > now]


class WebhookEvent(models.Model):
    """Something that happened. Its public id is the `webhook-id` of every delivery, retry and replay.

    `subject` is the public id of what it happened to. With `endpoint` it is for that one alone, at `url` where that is
    not the endpoint's own; without, for all that take its type. `routed`: its deliveries are written.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    type = models.CharField(_("type"), max_length=32, choices=EventType.choices)
    subject = models.CharField(_("subject"), max_length=64)
    data = models.JSONField(_("data"), default=dict)
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.SET_NULL, null=True, related_name="+")
    url = models.CharField(max_length=2000, blank=True, default="")
    routed = models.BooleanField(default=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("webhook event")
        verbose_name_plural = _("webhook events")
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["type", "subject"], name="one_event_of_a_type_per_subject")]
        indexes = [
            models.Index(fields=["created_at"], condition=Q(routed=False), name="event_not_routed"),
            models.Index(fields=["tenant", "-created_at", "-id"], name="event_tenant_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.subject}"

    @property
    def public_id(self) -> str:
        return public_id("evt", self.id)


class WebhookDelivery(models.Model):
    """One event for one endpoint. QUEUED until `not_before`, RUNNING under a lease, FAILED once given up.

    `attempt` counts claims and fences their results, `tries` counts what was sent since it was last queued by hand: the
    place on the ladder of pauses.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    event = models.ForeignKey(WebhookEvent, on_delete=models.CASCADE, related_name="deliveries")
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries")
    url = models.CharField(_("URL"), max_length=2000)
    subject = models.CharField(_("subject"), max_length=64)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    worker = models.CharField(_("worker"), max_length=128, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(_("next"), default=timezone.now)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    ended_at = models.DateTimeField(_("ended"), null=True)
    last_status = models.PositiveSmallIntegerField(_("last status"), null=True)
    last_error = models.CharField(_("last error"), max_length=64, blank=True, default="")

    class Meta:
        verbose_name = _("webhook delivery")
        verbose_name_plural = _("webhook deliveries")
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["event", "endpoint"], name="one_delivery_per_endpoint")]
        indexes = [
            models.Index(fields=["endpoint", "not_before"], condition=Q(state__in=OPEN), name="delivery_due"),
            models.Index(fields=["endpoint", "subject"], condition=Q(state__in=OPEN), name="delivery_in_order"),
            models.Index(fields=["tenant", "-created_at", "-id"], name="delivery_tenant_newest"),
            models.Index(fields=["endpoint", "-created_at", "-id"], name="delivery_endpoint_newest"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def public_id(self) -> str:
        return public_id("dlv", self.id)


class DeliveryAttempt(models.Model):
    """One sending and what came of it: a status, or `error` without one.

    `answer` is its first kilobyte; where none came, what went wrong in words.
    """

    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField(_("attempt"))
    sent_at = models.DateTimeField(_("sent"))
    seconds = models.FloatField(_("seconds"))
    status = models.PositiveSmallIntegerField(_("status"), null=True)
    error = models.CharField(_("error"), max_length=64, blank=True, default="")
    answer = models.TextField(_("answer"), blank=True, default="")

    class Meta:
        verbose_name = _("delivery attempt")
        verbose_name_plural = _("delivery attempts")
        ordering = ["delivery", "number"]
        constraints = [models.UniqueConstraint(fields=["delivery", "number"], name="one_attempt_per_number")]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery_id}"
