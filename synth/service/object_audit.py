"""Compares storage with the rows that name its objects. The scheduler rings now and then for a part; doctor takes all.

Every digest begins with one of 256 parts, under which its object lies. Of a part both sides are read: an object that no
row names is noted for `object_sweep.py`, which deletes it once no URL of it can run, and not if a worker puts the same
bytes meanwhile; an entry whose object is gone counts no more, so that its sound is made anew.
"""

import logging
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from synth import wiring
from synth.audio.formats import format_names, get_format
from synth.errors import ObjectMissing, WorkError
from synth.keys import scoped
from synth.models import ClonedVoice, DiscardedObject, Entry
from synth.models.chunks import chunks
from synth.models.clock import database_now
from synth.service.catalogue import LONG_AGO
from synth.service.endings import expire_entry
from synth.service.object_sweep import being_joined, discard, named_by_entries
from synth.storage.base import ListedObject
from synth.stored import VOICES, audio_object
from tenants.models import Tenant
from tenants.models.audit import PLATFORM
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

PARTS = 256
# One part in each of these, so that all have had their turn in less than two days.
EVERY_SECONDS = 600
LONGEST_RUN = 20.0
# Far above what lies between a put and its commit, whatever waits in between.
SAFE_AGE = timedelta(hours=6)
# Of so many entries, if more than half have lost their objects, the store is another one than before.
SUSPICIOUS = 20

DIGITS = 64

Object = tuple[str, str]  # digest and format


@dataclass(frozen=True, slots=True)
class Differences:
    """What of a tenant's part is on one side only. `strays` are files of voices that are no more."""

    tenant: TenantRef
    unnamed: list[Object] = field(default_factory=list)
    lost: list[Entry] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    compared: int = 0

    @property
    def looks_like_another_store(self) -> bool:
        return self.compared >= SUSPICIOUS and len(self.lost) > self.compared / 2


def audit_objects() -> None:
    """One bounded run over the part whose turn it is, of the tenants in another order each time."""
    ends_at = time.monotonic() + LONGEST_RUN
    part = part_of_now()
    for tenant in _tenants():
        if time.monotonic() > ends_at:
            break
        try:
            found = differences(tenant, part)
            if found.looks_like_another_store:
                logger.error("%d of %d objects are gone: is this the right store?", len(found.lost), found.compared)
            else:
                reconcile(found)
        except WorkError as error:
            logger.warning("storage is not compared with the rows now: %s", error)
            break


def part_of_now() -> int:
    return int(time.time() // EVERY_SECONDS) % PARTS


def all_differences(parts: Iterable[int] = range(PARTS)) -> Iterator[Differences]:
    """Of every tenant."""
    for part in parts:
        for tenant in _tenants():
            yield differences(tenant, part)


def differences(tenant: TenantRef, part: int) -> Differences:
    """Raises StorageUnavailable."""
    digits = f"{part:02x}"
    named = _entries(tenant, digits)  # before the listing: what is put after it is no loss
    listed = list(wiring.object_store().walk(scoped(tenant, digits)))
    there = {item.name for item in listed}
    return Differences(
        tenant,
        unnamed=_unnamed(tenant, listed),
        lost=[entry for entry in named if _name_of(tenant, entry) not in there and _is_lost(tenant, entry)],
        strays=_strays(tenant) if part == 0 else [],
        compared=len(named),
    )


def reconcile(found: Differences) -> None:
    if found.unnamed:
        logger.warning("%d objects that no row names are noted for deletion", len(found.unnamed))
        with transaction.atomic():
            discard(found.tenant, found.unnamed)
    for entry in found.lost:
        logger.warning("the object of entry %s is gone: it is made anew", entry.id)
        expire_entry(found.tenant, entry.kind, entry.key, digests=[entry.digest])
        if entry.kind == Entry.Kind.RENDITION:
            wiring.rendition_cache().forget(found.tenant, entry.key)
    for name in found.strays:
        wiring.object_store().delete(name)


def foreign_folders() -> list[str]:
    """The folders of no tenant: of one whose row was deleted, or of another Refrain that shares this store.

    Nothing here tells which, so that nothing deletes them.
    """
    known = {PLATFORM.hex, *(tenant_id.hex for tenant_id in Tenant.objects.values_list("id", flat=True))}
    return sorted({item.name.partition("/")[0] for item in wiring.object_store().walk()} - known)


def _tenants() -> list[TenantRef]:
    found = [TenantRef(tenant_id) for tenant_id in Tenant.objects.order_by().values_list("id", flat=True)]
    random.shuffle(found)
    return found


def _entries(tenant: TenantRef, digits: str) -> list[Entry]:
    """By a range, which the index of digests serves. One that is lost already has no object to look for."""
    rows = Entry.objects.filter(tenant_id=tenant.id, digest__gte=digits, digest__lt=f"{digits}g", made_at__gt=LONG_AGO)
    return list(rows.only("id", "kind", "key", "digest", "format"))


def _name_of(tenant: TenantRef, entry: Entry) -> str:
    try:
        return audio_object(tenant, entry.digest, entry.format)
    except LookupError:  # a format that is not installed here
        return ""


def _is_lost(tenant: TenantRef, entry: Entry) -> bool:
    """Asked by itself: a listing may be older than what it is compared with."""
    name = _name_of(tenant, entry)
    if not name:
        return False
    try:
        wiring.object_store().head(name)
    except ObjectMissing:
        return Entry.objects.filter(id=entry.id, digest=entry.digest).exists()
    return False


def _unnamed(tenant: TenantRef, listed: Iterable[ListedObject]) -> list[Object]:
    """Rows are asked after the listing, and of old objects alone: what a worker is about to name is young."""
    old = database_now() - SAFE_AGE
    names = {get_format(name).extension: name for name in format_names()}
    candidates: list[Object] = []
    for item in listed:
        digest, _dot, extension = item.name.rpartition("/")[2].partition(".")
        if item.modified < old and len(digest) == DIGITS and extension in names:
            candidates.append((digest, names[extension]))
    return [item for chunk in chunks(candidates) for item in _without_row(tenant, chunk)]


def _without_row(tenant: TenantRef, chunk: Sequence[Object]) -> list[Object]:
    needed = _needed(tenant, {digest for digest, _ in chunk})
    return [item for item in chunk if item[0] not in needed]


def _needed(tenant: TenantRef, digests: set[str]) -> set[str]:
    """Those that an entry, a note of their deletion, or open work names."""
    noted = DiscardedObject.objects.filter(tenant_id=tenant.id, digest__in=digests).order_by()
    named, joined = named_by_entries(tenant, digests), being_joined(tenant, digests)
    return {*named, *noted.values_list("digest", flat=True), *joined}


def _strays(tenant: TenantRef) -> list[str]:
    """Files of a voice without a row: its id is never given again, so nobody can need them."""
    old = database_now() - SAFE_AGE
    by_voice: dict[UUID, list[str]] = {}
    for item in wiring.object_store().walk(scoped(tenant, VOICES)):
        voice_id = _hex_id(item.name.split("/")[2])
        if voice_id is not None and item.modified < old:
            by_voice.setdefault(voice_id, []).append(item.name)
    for chunk in chunks(list(by_voice)):
        for voice_id in ClonedVoice.objects.filter(id__in=chunk).values_list("id", flat=True):
            del by_voice[voice_id]
    return [name for names in by_voice.values() for name in names]


def _hex_id(text: str) -> UUID | None:
    try:
        return UUID(hex=text)
    except ValueError:
        return None
