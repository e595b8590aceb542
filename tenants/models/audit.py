"""The audit of a tenant: its events in order, the segments that seal them, and where each tenant's chain stands.

`tenants/audit/` alone writes here. Events of no known tenant are in a chain of their own, `PLATFORM`.
"""

from typing import Any, NoReturn
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id
from tenants.models.tenant import Tenant

PLATFORM = UUID(int=0)


class AppendOnly(Exception):  # noqa: N818
    """Somebody tried to change or delete what may only be added to."""


class AppendOnlyRows(models.QuerySet[Any]):
    """Retention deletes by `_raw_delete`, once a segment is noted as dropped."""

    def update(self, **_: Any) -> NoReturn:
        raise AppendOnly

    def delete(self) -> NoReturn:
        raise AppendOnly

    def bulk_update(self, *_: Any, **__: Any) -> NoReturn:
        raise AppendOnly


class ChainRow(models.Model):
    """`chain` is the tenant's id, or PLATFORM; rows outlive their tenant: what happened stays true."""

    chain = models.UUIDField(editable=False)
    tenant = models.ForeignKey(
        Tenant, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+", verbose_name=_("tenant")
    )

    class Meta:
        abstract = True


class AppendOnlyRow(ChainRow):
    objects = AppendOnlyRows.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def save(self, *_: Any, **__: Any) -> NoReturn:
        raise AppendOnly

    def delete(self, *_: Any, **__: Any) -> NoReturn:
        raise AppendOnly


class AuditEvent(AppendOnlyRow):
    """One thing that somebody did or asked. `mac` vouches for the row at this place of its chain.

    A request's id is its event's: to write one again changes nothing. A row whose outcome is `gap` stands for `count`
    events that were lost. `detail` is JSON. `text` is whole or a keyed hash, as `text_kind` says.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    sequence = models.PositiveBigIntegerField(_("number"))
    at = models.DateTimeField(_("time"))
    actor_kind = models.CharField(_("kind of actor"), max_length=16)
    actor_id = models.CharField(_("actor"), max_length=64, blank=True)
    actor_name = models.CharField(_("name"), max_length=200, blank=True)
    action = models.CharField(_("action"), max_length=160)
    object = models.CharField(_("object"), max_length=200, blank=True)
    status = models.PositiveSmallIntegerField(_("status"), default=0)
    outcome = models.CharField(_("outcome"), max_length=64)
    cache = models.CharField(_("cache"), max_length=16, blank=True)
    characters = models.PositiveIntegerField(_("characters"), default=0)
    count = models.PositiveBigIntegerField(_("events"), default=1)
    request_id = models.CharField(_("request id"), max_length=64, blank=True)
    address = models.CharField(_("address"), max_length=64, blank=True)
    text_kind = models.CharField(_("text kept"), max_length=8, blank=True)
    text = models.TextField(_("text"), blank=True)
    detail = models.TextField(_("details"), blank=True)
    mac = models.CharField(max_length=64, editable=False)

    class Meta(AppendOnlyRow.Meta):
        abstract = False
        verbose_name = _("audit event")
        verbose_name_plural = _("audit")
        ordering = ["-at", "-id"]
        constraints = [models.UniqueConstraint(fields=["chain", "sequence"], name="one_audit_event_per_number")]
        indexes = [
            models.Index(fields=["-at", "-id"], name="audit_newest"),
            models.Index(fields=["tenant", "-at", "-id"], name="audit_tenant_newest"),
            models.Index(fields=["actor_id", "-at"], name="audit_actor_newest"),
            models.Index(fields=["object"], name="audit_object"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.at:%Y-%m-%d %H:%M:%S}"


class AuditSegment(AppendOnlyRow):
    """The events `first` to `last` of a chain, written and sealed together.

    `rows` is the digest of their macs, `previous` the mac of the segment before, `mac` the keyed digest of all this.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    number = models.PositiveBigIntegerField(_("number"))
    first = models.PositiveBigIntegerField(_("first event"))
    last = models.PositiveBigIntegerField(_("last event"))
    count = models.PositiveIntegerField(_("events"))
    rows = models.CharField(max_length=64)
    previous = models.CharField(max_length=64, blank=True)
    key_id = models.PositiveIntegerField(_("key"))
    latest_at = models.DateTimeField(_("latest event"))
    sealed_at = models.DateTimeField(_("sealed"))
    mac = models.CharField(max_length=64)

    class Meta(AppendOnlyRow.Meta):
        abstract = False
        verbose_name = _("audit segment")
        verbose_name_plural = _("audit segments")
        ordering = ["chain", "-number"]
        constraints = [models.UniqueConstraint(fields=["chain", "number"], name="one_audit_segment_per_number")]

    def __str__(self) -> str:
        return f"{self.chain} {self.first}-{self.last}"


class AuditChain(models.Model):
    """Where a chain stands; its row is the lock of its one writer.

    `dropped_…` is the tombstone of all segments that retention has dropped, sealed with a key. `findings` is what the
    last verification found, as JSON.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey(
        Tenant, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+", verbose_name=_("tenant")
    )
    number = models.PositiveBigIntegerField(_("segments"), default=0)
    last = models.PositiveBigIntegerField(_("events"), default=0)
    mac = models.CharField(max_length=64, blank=True, default="")
    dropped_number = models.PositiveBigIntegerField(default=0)
    dropped_last = models.PositiveBigIntegerField(_("dropped events"), default=0)
    dropped_mac = models.CharField(max_length=64, blank=True, default="")
    dropped_at = models.DateTimeField(_("dropped"), null=True)
    dropped_key = models.PositiveIntegerField(default=0)
    dropped_seal = models.CharField(max_length=64, blank=True, default="")
    anchored_at = models.DateTimeField(_("anchored"), null=True)
    anchored_last = models.PositiveBigIntegerField(_("anchored event"), default=0)
    verify_asked_at = models.DateTimeField(null=True)
    verified_at = models.DateTimeField(_("verified"), null=True)
    verified_events = models.PositiveBigIntegerField(_("verified events"), default=0)
    findings = models.JSONField(_("findings"), default=list)

    class Meta:
        verbose_name = _("audit chain")
        verbose_name_plural = _("audit chains")
        ordering = ["-verified_at", "id"]

    def __str__(self) -> str:
        return str(self.tenant or _("the platform")) if self.tenant_id else str(_("the platform"))


class AuditNote(models.Model):
    """An event on its way into its chain: written in the transaction of what it tells of, or with Redis away.

    While `open_until` is ahead, what it tells of is not finished. `event` is JSON.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    chain = models.UUIDField()
    event = models.TextField()
    open_until = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["open_until"], name="audit_note_open")]

    def __str__(self) -> str:
        return f"{self.chain} {self.id}"
