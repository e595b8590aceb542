"""Drops what a tenant's audit need not keep any longer: segments whole, with a sealed tombstone for all of them."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from tenants.audit import sealing
from tenants.audit.writing import locked
from tenants.models import AuditChain, AuditEvent, AuditSegment, Tenant

SEGMENTS = 500  # of one transaction
EVENTS = 20_000


def drop_old(now: datetime | None = None) -> int:
    """One round over all chains; how many events were dropped."""
    moment = now or timezone.now()
    own = dict(Tenant.objects.order_by().values_list("id", "audit_days"))
    return sum(_drop(chain, own.get(chain.id), moment) for chain in AuditChain.objects.filter(last__gt=0))


def _drop(chain: AuditChain, own: int | None, now: datetime) -> int:
    days = settings.REFRAIN_AUDIT_DAYS if own is None else own
    dropped = 0
    while days and (count := _drop_some(chain.id, now - timedelta(days=days))):
        dropped += count
    return dropped


@transaction.atomic
def _drop_some(chain: UUID, before: datetime) -> int:
    """The oldest segments, up to the first one that holds something newer."""
    head = locked(chain)
    oldest = AuditSegment.objects.filter(chain=head.id).order_by("number")[:SEGMENTS]
    events, last = 0, None
    for segment in oldest:
        if segment.latest_at >= before or events >= EVENTS:
            break
        events, last = events + segment.count, segment
    if last is None:
        return 0
    head.dropped_number, head.dropped_last, head.dropped_mac = last.number, last.last, last.mac
    head.dropped_at, head.dropped_key = timezone.now(), sealing.current_key()
    head.dropped_seal = sealing.tombstone_seal(head)
    head.save()
    _delete(AuditEvent.objects.filter(chain=head.id, sequence__lte=last.last))
    _delete(AuditSegment.objects.filter(chain=head.id, number__lte=last.number))
    return events


def _delete(rows: QuerySet[Any]) -> None:
    """What append-only rows refuse to everyone else; on PostgreSQL their trigger is told so."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL refrain.audit_retention = 'on'")
    rows._raw_delete(using=rows.db)  # noqa: SLF001 - Django's own, without collecting
