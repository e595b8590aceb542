"""Joins and encodes renditions whose sentences are all in: what an io worker does when its bell rings."""

import logging
import time
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from synth import cards, wiring
from synth.audio.encoding import encode_clip
from synth.audio.pcm import CorruptAudio, Span, from_flac, join_timed, resample, set_loudness
from synth.audio.stretching import stretch
from synth.conf import conf
from synth.errors import ObjectMissing, Permanent, WorkError
from synth.keys import segment_key
from synth.models import Entry, Rendering, RenderingPart, Synthesis
from synth.models.clock import database_now
from synth.models.prepared import prepared_rows
from synth.models.states import OPEN, State
from synth.queue.claim import MAX_ATTEMPTS, Worker, claim_rendering, fenced, renderings_wait
from synth.queue.doorbell import IO_QUEUE
from synth.queue.lease import kept_alive, let_the_lease_run_out
from synth.queue.shutdown import stopping
from synth.queue.wakeup import announce
from synth.service.endings import (
    Failure,
    Published,
    expire_entry,
    give_back,
    hand_on,
    rendering_failed,
    rendering_succeeded,
)
from synth.service.object_sweep import discard, rescue
from synth.service.objects import read_sentence
from synth.service.orders import segments_of
from synth.service.purging import follow_purges
from synth.service.sealed_specs import entry_columns, from_row
from synth.service.sealing import Altered, Kept, kept_sound, opened_sentence
from synth.service.sentence_times import rounded, stretched
from synth.service.storage_use import has_room
from synth.service.submission import open_syntheses
from synth.service.work_keys import KeyGone, at_work
from synth.stored import audio_object, of_entry
from synth.types import Clip, Pcm, Segment, Spec
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 30.0


class SegmentsLost(WorkError):  # noqa: N818
    """Stored sentences that storage no longer has, by key: they are made anew."""

    code = "segments_lost"

    def __init__(self, keys: set[str]) -> None:
        super().__init__(f"{len(keys)} stored sentences are gone")
        self.keys = keys


def drain_renderings(worker: Worker) -> None:
    """Render one rendition after another for at most 30 s, then ring again."""
    doorbell = wiring.doorbell()
    doorbell.answered(IO_QUEUE)
    ends_at = time.monotonic() + DRAIN_SECONDS
    first = True
    while time.monotonic() < ends_at and not stopping.is_set():
        claim = claim_rendering(worker)
        if claim is None:
            return
        if first and renderings_wait():
            doorbell.ring_io()
        first = False
        render(claim)
    doorbell.ring_io()


def render(claim: Rendering) -> None:
    """Make one claimed rendition; store, publish, or say why not."""
    if claim.attempt > MAX_ATTEMPTS:
        return _fail(claim, Failure(code=claim.error_code or "worker_lost", detail="Every attempt lost its worker."))
    tenant = TenantRef(claim.tenant_id)
    try:
        with at_work(tenant, claim.spec["manner"].get("encryption_key_id")):
            _render(claim, from_row(tenant, Spec, claim.spec, key=claim.key))
    except (KeyGone, Altered) as error:
        _fail(claim, Failure(code=error.code))
    return None


def _render(claim: Rendering, spec: Spec) -> None:
    try:
        with kept_alive(
            claim,
            lease=conf().lease,
            interval=conf().heartbeat,
            deadline=conf().deadline + len(spec.text) / 10,
            at_deadline=let_the_lease_run_out,
        ):
            clip, spans = _assemble(claim, spec)
            _publish(claim, spec, clip, spans)
    except SegmentsLost as lost:
        if not _wait_for_storage(claim, lost.keys):
            _remake(claim, spec, lost.keys)
    except Permanent as error:
        _fail(claim, Failure(code=error.code, detail=error.detail, repeats=True))
    except (WorkError, MemoryError) as error:
        _retry(claim, Failure(code=getattr(error, "code", "out_of_memory"), detail=str(error)))
    except Exception:  # whatever it was: the rendition must not wait for its lease to run out
        logger.exception("rendering %s broke", claim.id)
        _retry(claim, Failure(code="internal_error"))


def _assemble(claim: Rendering, spec: Spec) -> tuple[Clip, list[Span]]:
    """Join, stretch, resample, set the loudness, encode: in this order every promise about the result holds.

    With it, where in it each sentence is.
    """
    output = spec.output
    joined, spans = join_timed(_pieces(claim, spec.manner.encryption_key_id or ""), pause_ms=output.pause_ms)
    if output.duration is not None:
        spans = stretched(spans, output.duration / joined.duration)
        joined = stretch(joined, output.duration)
    levelled = set_loudness(resample(joined, output.sample_rate), output.loudness)
    clip = encode_clip(levelled, format=output.format, sample_rate=output.sample_rate, bitrate=output.bitrate)
    return clip, spans


def _pieces(claim: Rendering, key_id: str) -> list[Pcm]:
    tenant = TenantRef(claim.tenant_id)
    pieces: dict[str, Pcm] = {}
    lost: set[str] = set()
    parts = _parts(rendering_id=claim.id)
    for key, digest in parts:
        if digest in pieces or key in lost:
            continue
        try:
            pieces[digest] = from_flac(_stored_sentence(tenant, digest, key_id))
        except (ObjectMissing, CorruptAudio):
            lost.add(key)
    if lost:
        raise SegmentsLost(lost)
    return [pieces[digest] for _, digest in parts]


def _stored_sentence(tenant: TenantRef, digest: str, key_id: str) -> bytes:
    held = wiring.handover().take(tenant, digest, is_sealed=bool(key_id))
    if held is None:
        return read_sentence(tenant, digest, key_id=key_id)
    return opened_sentence(tenant, held, digest, key_id=key_id)


@prepared_rows
def _parts(rendering_id: Any) -> QuerySet[RenderingPart, tuple[str, str]]:
    return RenderingPart.objects.filter(rendering_id=rendering_id).order_by("position").values_list("key", "digest")


def _publish(claim: Rendering, spec: Spec, clip: Clip, spans: list[Span]) -> None:
    """Bytes to storage, fenced commit, cache, wake: always in this order."""
    tenant = TenantRef(claim.tenant_id)
    kept = kept_sound(
        tenant,
        clip.data,
        digest=clip.digest,
        format_name=clip.format,
        media_type=clip.media_type,
        key_id=spec.manner.encryption_key_id,
    )
    rescue(tenant, kept.digest)
    wiring.object_store().put(audio_object(tenant, kept.digest, clip.format), kept.data, clip.media_type)
    result: dict[str, object] = {
        "digest": kept.digest,
        "format": clip.format,
        "media_type": clip.media_type,
        "size": len(clip.data),
        "duration": clip.duration,
        "sample_rate": clip.sample_rate,
    }
    # Where there is no room it is spoken all the same, and kept for its jobs alone.
    has_place = claim.stored and has_room(claim.tenant_id, claim.api_key_id, len(clip.data))
    entry = _entry(claim, spec, result, spans) if has_place else None
    published = rendering_succeeded(claim, result, entry)
    if published is None:
        logger.warning("rendering %s: the result of attempt %d came too late", claim.id, claim.attempt)
        discard(tenant, [(kept.digest, clip.format)])
        return
    if published.entry is not None:
        _fill(tenant, published.entry, kept, published)
    announce(wiring.redis_unless_away, [claim.id])


def _fill(tenant: TenantRef, entry: Entry, kept: Kept, published: Published) -> None:
    if published.swapped:
        follow_purges(tenant)
    wiring.rendition_cache().fill(
        tenant, entry.key, of_entry(entry), kept.data, purge_number=published.purge_number, pinned=entry.pinned
    )


def _entry(claim: Rendering, spec: Spec, result: dict[str, object], spans: list[Span]) -> Entry:
    return Entry(
        tenant_id=claim.tenant_id,
        kind=Entry.Kind.RENDITION,
        key=claim.key,
        api_key_id=claim.api_key_id,
        engine=spec.manner.engine,
        model_version=spec.manner.model_version,
        voice=spec.manner.voice,
        category=claim.category,
        made_at=database_now(),
        provenance={"worker": claim.worker, "sentences": rounded(spans)},
        **entry_columns(TenantRef(claim.tenant_id), spec, key=claim.key),
        **result,
    )


def _wait_for_storage(claim: Rendering, keys: set[str]) -> bool:
    """Back to waiting, where all of these were only handed over before they are stored, and Redis has lost them."""
    parts = RenderingPart.objects.filter(rendering=claim, key__in=keys)
    rows = list(Synthesis.objects.filter(id__in=parts.values("synthesis_id")))
    coming = [row.id for row in rows if row.state in OPEN or _is_stored(row)]
    with transaction.atomic():
        spoken = list(Synthesis.objects.select_for_update().filter(id__in=coming).order_by("flight"))
        awaited = [row for row in spoken if row.state in (*OPEN, State.SUCCEEDED)]
        all_of_them = {row.key for row in awaited} == keys
        if not all_of_them or not fenced(claim).update(state=State.WAITING, lease_until=None):
            return False
        parts.filter(synthesis__in=[row for row in awaited if row.state in OPEN]).update(digest="")
        if hand_on([claim.id]):
            transaction.on_commit(wiring.doorbell().ring_io)
    return True


def _is_stored(row: Synthesis) -> bool:
    """By now: it was not a moment ago."""
    if row.state != State.SUCCEEDED or not row.digest:
        return False
    try:
        key_id = row.segment["manner"].get("encryption_key_id")
        from_flac(read_sentence(TenantRef(row.tenant_id), row.digest, key_id=key_id))
    except (ObjectMissing, CorruptAudio):
        return False
    return True


@transaction.atomic
def _remake(claim: Rendering, spec: Spec, lost: set[str]) -> None:
    """Back to waiting, with syntheses for the sentences that storage lost."""
    tenant = TenantRef(claim.tenant_id)
    segments = {key: segment for key, segment in _segments_by_key(spec).items() if key in lost}
    if set(segments) != lost:
        _fail(claim, Failure(code="segments_lost"))
        return
    shared = "" if claim.stored else f":{claim.id.hex}"
    syntheses = open_syntheses(
        tenant,
        [(f"{key}{shared}", key, segment) for key, segment in segments.items()],
        stored=claim.stored,
        category=claim.category,
        priority=claim.priority,
    )
    if not fenced(claim).update(state=State.WAITING, lease_until=None):
        return
    for synthesis in syntheses.values():
        parts = RenderingPart.objects.filter(rendering=claim, key=synthesis.key)
        expire_entry(tenant, Entry.Kind.SEGMENT, synthesis.key, digests=parts.values_list("digest", flat=True))
        parts.update(digest="", synthesis=synthesis)
    transaction.on_commit(lambda: wiring.doorbell().ring_engine(spec.manner.engine))


def _segments_by_key(spec: Spec) -> dict[str, Segment]:
    """The sentences of a spec, cut as they were when it was submitted: by the limit of the engine's version."""
    card = cards.of_version(spec.manner.engine, spec.manner.model_version)
    segments = segments_of(spec, max_units=card.max_units) if card else []
    return {segment_key(segment): segment for segment in segments}


def _retry(claim: Rendering, failure: Failure) -> None:
    if claim.attempt >= MAX_ATTEMPTS:
        _fail(claim, failure)
    else:
        give_back(claim, failure)


def _fail(claim: Rendering, failure: Failure) -> None:
    ended = rendering_failed(claim, failure)
    logger.warning("rendering %s failed: %s", claim.id, failure.code)
    announce(wiring.redis_unless_away, ended)
