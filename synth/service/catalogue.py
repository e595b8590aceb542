"""What the catalogue holds that may still be served: not purged, not lost, and not older than its rule lets it be."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from synth.models import Entry
from synth.models.prepared import prepared_rows
from tenants.types import TenantRef

# An entry whose audio storage has lost counts as made then: too old for any rule, and for a pin.
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
BATCH = 500


def fresh_rendition(tenant: TenantRef, key: str, *, max_age: float) -> Entry | None:
    """The rendition's entry, unless it is older than `max_age` seconds; a pinned one is never too old."""
    found = _rendition(tenant_id=tenant.id, key=key, oldest=_oldest(max_age))
    return found[0] if found else None


def fresh_segments(tenant: TenantRef, keys: Iterable[str], *, max_age: float) -> dict[str, str]:
    """The digests of those sentences that are stored and not too old, by key."""
    found: dict[str, str] = {}
    remaining = iter(dict.fromkeys(keys))
    while batch := list(islice(remaining, BATCH)):
        found |= dict(_segments(tenant, batch, _oldest(max_age)))
    return found


def _segments(tenant: TenantRef, keys: Sequence[str], oldest: datetime) -> Iterable[tuple[str, str]]:
    if len(keys) == 1:  # as in most requests
        return _segment(tenant_id=tenant.id, key=keys[0], oldest=oldest)
    rows = _fresh(tenant.id, oldest).filter(kind=Entry.Kind.SEGMENT, key__in=keys)
    return rows.order_by().values_list("key", "digest")


def _oldest(max_age: float) -> datetime:
    return timezone.now() - timedelta(seconds=max_age)


def _fresh(tenant_id: Any, oldest: Any) -> QuerySet[Entry]:
    return Entry.objects.filter(Q(made_at__gte=oldest) | Q(pinned=True, made_at__gt=LONG_AGO), tenant_id=tenant_id)


@prepared_rows
def _rendition(tenant_id: Any, key: Any, oldest: Any) -> QuerySet[Entry]:
    return _fresh(tenant_id, oldest).filter(kind=Entry.Kind.RENDITION, key=key).order_by()


@prepared_rows
def _segment(tenant_id: Any, key: Any, oldest: Any) -> QuerySet[Entry, tuple[str, str]]:
    rows = _fresh(tenant_id, oldest).filter(kind=Entry.Kind.SEGMENT, key=key)
    return rows.order_by().values_list("key", "digest")
