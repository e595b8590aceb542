"""Erases a deleted voice and all that was made of it. Deleting calls it at once, io workers go on with what is left.

Every step may be done twice, and by two at once. The row goes last: as long as it is there, the sweeper rings.
"""

import logging
import time

from django.db import transaction
from django.db.models import Q

from synth import wiring
from synth.errors import WorkError
from synth.models import ClonedVoice, Entry, Rendering, Synthesis, VoiceEvent
from synth.models.chunks import chunks
from synth.models.clock import database_now
from synth.models.states import OPEN, State
from synth.queue.wakeup import announce
from synth.service.endings import Failure, fail_renderings
from synth.service.object_sweep import delete_now, discard
from synth.service.purging import CHUNK, follow_purges, purge_entries
from synth.service.voice_events import note
from synth.stored import STORED_FORMAT, upload_object, voice_object
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

# What a request waits for at most; workers have as long for each voice, turn by turn.
SECONDS = 5.0
VOICE_GONE = Failure(code="voice_gone", detail="The voice was deleted.", repeats=True)

Objects = list[tuple[str, str]]


def erase(row: ClonedVoice) -> bool:
    """One bounded run; whether nothing is left of the voice."""
    tenant, ends_at = TenantRef(row.tenant_id), time.monotonic() + SECONDS
    if row.fingerprint:
        _fail_open_work(tenant, row.fingerprint)
        for step in (_purge_portion, _erase_renditions, _erase_sentences):
            while step(tenant, row.fingerprint):
                if time.monotonic() > ends_at:
                    return False
    try:
        erase_files(row)
    except WorkError as error:
        logger.warning("the files of voice %s are not deleted yet: %s", row.id, error)
        return False
    with transaction.atomic():
        ClonedVoice.objects.filter(tenant_id=row.tenant_id, same_as=row.id).delete()
        if ClonedVoice.objects.filter(id=row.id, state=State.CANCELED).delete()[0] and row.fingerprint:
            note(row, VoiceEvent.Kind.ERASED)  # that what was promised at the deletion has been done
    return True


def erase_files(row: ClonedVoice) -> None:
    """The sound and the file that it came as."""
    tenant, store = TenantRef(row.tenant_id), wiring.object_store()
    store.delete(upload_object(tenant, row.id))
    if row.digest:
        store.delete(voice_object(tenant, row.id, row.digest))


def _fail_open_work(tenant: TenantRef, fingerprint: str) -> None:
    """Whoever runs it now cannot publish any more."""
    with transaction.atomic():
        now = database_now()
        rows = Synthesis.objects.select_for_update().filter(
            _sounds_like("segment", fingerprint), tenant_id=tenant.id, state__in=OPEN
        )
        ids = list(rows.order_by("flight").values_list("id", flat=True))
        for chunk in chunks(ids):
            Synthesis.objects.filter(id__in=chunk).update(
                state=State.FAILED,
                ended_at=now,
                lease_until=None,
                error_code=VOICE_GONE.code,
                error_detail=VOICE_GONE.detail,
            )
        waiting = Rendering.objects.filter(_sounds_like("spec", fingerprint), tenant_id=tenant.id, state__in=OPEN)
        ended = fail_renderings(waiting, VOICE_GONE, now)
    announce(wiring.redis_unless_away, ended)


def _purge_portion(tenant: TenantRef, fingerprint: str) -> bool:
    """Take the next entries out of the cache, and delete what they name; whether there may be more."""
    rows = Entry.objects.filter(tenant_id=tenant.id, references__contains=fingerprint).order_by("id")
    found = list(rows.values_list("id", "digest", "format")[:CHUNK])
    if not found:
        return False
    purge_entries(tenant, [row[0] for row in found], along=set())
    follow_purges(tenant)
    delete_now(tenant, {(digest, audio_format) for _, digest, audio_format in found})
    return True


def _erase_renditions(tenant: TenantRef, fingerprint: str) -> bool:
    """The audio of jobs, which stays with them for a while: from now on they have none."""
    rows = Rendering.objects.filter(_sounds_like("spec", fingerprint), tenant_id=tenant.id).exclude(digest="")
    found = list(rows.order_by("id").values_list("id", "digest", "format")[:CHUNK])
    _delete_objects(tenant, [(digest, audio_format) for _, digest, audio_format in found])
    Rendering.objects.filter(id__in=[row[0] for row in found]).update(digest="", size=None)
    return bool(found)


def _erase_sentences(tenant: TenantRef, fingerprint: str) -> bool:
    rows = Synthesis.objects.filter(_sounds_like("segment", fingerprint), tenant_id=tenant.id).exclude(digest="")
    found = list(rows.order_by("id").values_list("id", "digest")[:CHUNK])
    _delete_objects(tenant, [(digest, STORED_FORMAT) for _, digest in found])
    Synthesis.objects.filter(id__in=[row[0] for row in found]).update(digest="")
    return bool(found)


def _delete_objects(tenant: TenantRef, objects: Objects) -> None:
    with transaction.atomic():
        discard(tenant, objects)
    delete_now(tenant, set(objects))


def _sounds_like(column: str, fingerprint: str) -> Q:
    """Work by this voice, or with the emotion of its sound."""
    voice = Q(**{f"{column}__manner__voice_fingerprint": fingerprint})
    return voice | Q(**{f"{column}__manner__emotion__reference": fingerprint})
