"""Deletes objects that no entry names any more, once no URL of them can still run. Rung by the scheduler.

How it stays off objects that are needed: what an entry stops naming is noted with the time until which URLs of it may
run (`discard`), and looked at again after that. A worker that is about to store bytes withdraws such a note first
(`rescue`); the sweeper deletes only under a lease on the note, for which `rescue` waits. So of a worker and a sweeper
at the same object either the worker comes first, and the note is gone, or the object is deleted first and then put.
"""

import logging
import time
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from synth import wiring
from synth.conf import conf
from synth.errors import WorkError
from synth.models import DiscardedObject, Entry, RenderingPart
from synth.models.clock import database_now
from synth.models.prepared import prepared_rows
from synth.models.states import OPEN
from synth.stored import audio_object
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

# Between the expiry of the last URL and the deletion: clocks differ, and downloads take a while.
MARGIN = timedelta(minutes=15)
# Far above what a store takes for one deletion with its time-outs and retries.
LEASE = timedelta(seconds=120)
LOOK_EVERY = 0.2
BATCH = 200
LONGEST_RUN = 20.0


def discard(tenant: TenantRef, objects: Iterable[tuple[str, str]]) -> None:
    """Note that an entry no longer names these (digest, format). Called in the transaction of that change."""
    not_before = kept_until()
    rows = [
        DiscardedObject(tenant_id=tenant.id, digest=digest, format=audio_format, not_before=not_before)
        for digest, audio_format in sorted(set(objects))
    ]
    DiscardedObject.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["tenant", "digest", "format"],
        update_fields=["not_before"],
        batch_size=BATCH,
    )


def kept_until() -> datetime:
    """Until when what an entry stops naming now stays in storage."""
    return database_now() + timedelta(seconds=max(conf().url_ttl, conf().job_audio_ttl)) + MARGIN


def rescue(tenant: TenantRef, digest: str) -> None:
    """Call before these bytes are put into the store: from then on nobody deletes them for what was noted earlier."""
    while True:
        if not _noted(tenant_id=tenant.id, digest=digest):
            return
        noted = DiscardedObject.objects.filter(tenant_id=tenant.id, digest=digest)
        noted.filter(_unleased()).delete()
        if noted.exists():
            time.sleep(LOOK_EVERY)  # a sweeper is at it, for as long as one deletion takes


def hold(tenant: TenantRef, digest: str) -> None:
    """Call before a new URL of stored bytes is given out that no entry may name any more: it is to work for its time.

    What is due already stays so: the sound of a deleted voice is.
    """
    now = database_now()
    until = now + timedelta(seconds=conf().url_ttl) + MARGIN
    noted = DiscardedObject.objects.filter(tenant_id=tenant.id, digest=digest)
    noted.filter(not_before__gt=now, not_before__lt=until).update(not_before=until)


def sweep_objects() -> int:
    """One bounded run; how many objects were deleted. Two at once do no harm: each note is leased to one."""
    ends_at = time.monotonic() + LONGEST_RUN
    deleted = 0
    due = DiscardedObject.objects.filter(_unleased(), not_before__lte=database_now()).order_by("not_before")
    for note in due[:BATCH]:
        if time.monotonic() > ends_at:
            break
        deleted += _sweep(note)
    return deleted


def delete_now(tenant: TenantRef, objects: Iterable[tuple[str, str]]) -> None:
    """Delete these (digest, format) although URLs of them may run. What an entry or open work needs stays."""
    for digest, audio_format in objects:
        noted = DiscardedObject.objects.filter(tenant_id=tenant.id, digest=digest, format=audio_format)
        noted.update(not_before=database_now())
        for note in noted:
            _sweep(note)


def named_by_entries(tenant: TenantRef, digests: Collection[str]) -> set[str]:
    """Those of these that are the sound of an entry."""
    named = Entry.objects.filter(tenant_id=tenant.id, digest__in=digests)
    return set(named.order_by().values_list("digest", flat=True))


def being_joined(tenant: TenantRef, digests: Collection[str]) -> set[str]:
    """Those of these that an open rendering is made of."""
    parts = RenderingPart.objects.filter(rendering__tenant_id=tenant.id, rendering__state__in=OPEN)
    return set(parts.filter(digest__in=digests).order_by().values_list("digest", flat=True))


def _sweep(note: DiscardedObject) -> bool:
    until = database_now() + LEASE
    mine = DiscardedObject.objects.filter(id=note.id)
    if not mine.filter(_unleased(), not_before__lte=database_now()).update(deleting_until=until):
        return False
    mine = mine.filter(deleting_until=until)
    tenant = TenantRef(note.tenant_id)
    if named_by_entries(tenant, [note.digest]):
        mine.delete()  # an entry names it again; when that ends, it is noted anew
        return False
    if being_joined(tenant, [note.digest]):
        mine.update(deleting_until=None, not_before=database_now() + MARGIN)
        return False
    try:
        wiring.object_store().delete(audio_object(tenant, note.digest, note.format))
    except (WorkError, LookupError) as error:
        logger.warning("object %s is not deleted yet: %s", note.digest[:12], error)
        mine.update(deleting_until=None, not_before=database_now() + MARGIN)
        return False
    mine.delete()
    return True


@prepared_rows
def _noted(tenant_id: Any, digest: Any) -> QuerySet[DiscardedObject]:
    return DiscardedObject.objects.filter(tenant_id=tenant_id, digest=digest).order_by()


def _unleased() -> Q:
    return Q(deleting_until=None) | Q(deleting_until__lt=database_now())
