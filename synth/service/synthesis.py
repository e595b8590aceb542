"""Claims sentences and speaks them: what an engine worker does when its bell rings."""

import logging
import time
from hashlib import sha256

from synth import cards, engine_time, health, metrics, paces, wiring
from synth.audio.checks import BadAudio, longest
from synth.audio.formats import get_format
from synth.audio.pcm import to_flac
from synth.conf import conf
from synth.engines.base import Engine
from synth.errors import Permanent, WorkError
from synth.health import Run
from synth.memory import most_resident
from synth.metrics import RunEnd
from synth.models import Entry, Synthesis
from synth.models.clock import database_now
from synth.queue.claim import MAX_ATTEMPTS, Worker, claim_synthesis, has_work
from synth.queue.doorbell import engine_queue
from synth.queue.lease import end_this_process, kept_alive
from synth.queue.shutdown import stopping
from synth.queue.wakeup import announce
from synth.service.endings import Failure, give_back, sentence_spoken, synthesis_failed, synthesis_succeeded
from synth.service.engine_runs import OUT_OF_MEMORY, Sound, gives_the_same, speak
from synth.service.object_sweep import discard, rescue
from synth.service.references import load_references
from synth.service.sealed_specs import from_row, text_column
from synth.service.sealing import Altered, kept_sound
from synth.service.storage_use import has_room
from synth.service.work_keys import KeyGone, at_work
from synth.stored import STORED_FORMAT, audio_object, references_column
from synth.types import Segment
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 30.0
ALIVE_EVERY = 20.0
_told_alive: dict[str, float] = {}


def drain_engine(engine: Engine, worker: Worker) -> int:
    """Speak sentence after sentence for at most 30 s, then ring again. Returns how many.

    Looks between two for a reason to stop: a shutdown, or memory beyond its bound, for which Celery replaces this
    process once the task is over.
    """
    card, doorbell = engine.card, wiring.doorbell()
    doorbell.answered(engine_queue(card.name))
    _tell_alive(engine, worker)
    ends_at = time.monotonic() + DRAIN_SECONDS
    spoken = 0
    while time.monotonic() < ends_at and not stopping.is_set() and not (spoken and _too_large()):
        claim = claim_synthesis(card.name, card.model_version, worker)
        if claim is None:
            return spoken
        if not spoken and has_work(card.name, card.model_version):
            doorbell.ring_engine(card.name)  # there is more: other workers may help
        spoken += 1
        synthesize(claim, engine)
    doorbell.ring_engine(card.name)
    return spoken


def _too_large() -> bool:
    return 0 < conf().worker_max_memory < most_resident()


def _tell_alive(engine: Engine, worker: Worker) -> None:
    """Note on the card and on the worker's own row that it lives, not at every bell."""
    now, card = time.monotonic(), engine.card
    if now - _told_alive.get(card.name, -ALIVE_EVERY) >= ALIVE_EVERY:
        cards.seen(card.name, card.model_version)
        health.tell(worker.name, engine)
        _told_alive[card.name] = now


def synthesize(claim: Synthesis, engine: Engine) -> None:
    """Run the engine for one claimed sentence; store, publish, or say why not."""
    if claim.attempt > MAX_ATTEMPTS:
        return _fail(claim, Failure(code=claim.error_code or "worker_lost", detail="Every attempt lost its worker."))
    tenant = TenantRef(claim.tenant_id)
    try:
        with at_work(tenant, claim.segment["manner"].get("encryption_key_id")):
            _speak(claim, from_row(tenant, Segment, claim.segment, key=claim.key), engine)
    except (KeyGone, Altered) as error:
        _fail(claim, Failure(code=error.code))
    return None


def _speak(claim: Synthesis, segment: Segment, engine: Engine) -> None:
    manner = segment.manner
    most = longest(segment.text, speed=manner.speed, duration=manner.duration)
    deadline = conf().deadline + conf().deadline_factor * most
    ends_at = time.monotonic() + deadline
    try:
        with kept_alive(
            claim, lease=conf().lease, interval=conf().heartbeat, deadline=deadline, at_deadline=end_this_process
        ):
            references = load_references(TenantRef(claim.tenant_id), manner)
            sound = speak(engine, segment, references, ends_at=ends_at)
            _publish(claim, segment, sound)
    except Permanent as error:
        _fail(claim, Failure(code=error.code, detail=error.detail, repeats=True))
    except BadAudio as error:
        repeats = engine.card.deterministic or gives_the_same(engine.card, manner)
        _fail(claim, Failure(code=error.code, detail=error.detail, repeats=repeats))
    except (WorkError, MemoryError) as error:
        _retry(claim, Failure(code=getattr(error, "code", OUT_OF_MEMORY), detail=str(error)))
    except Exception:  # whatever it was: the sentence must not wait for its lease to run out
        logger.exception("synthesis %s broke", claim.id)
        _retry(claim, Failure(code="internal_error"))


def _publish(claim: Synthesis, segment: Segment, sound: Sound) -> None:
    """Bytes to storage under their digest, then the fenced commit, then the bells.

    Beside a remote store, whoever waits for the sentence has it through Redis while it is being stored.
    """
    plain = to_flac(sound.pcm)
    tenant, media_type = TenantRef(claim.tenant_id), get_format(STORED_FORMAT).media_type
    kept = kept_sound(
        tenant,
        plain,
        digest=sha256(plain).hexdigest(),
        format_name=STORED_FORMAT,
        media_type=media_type,
        key_id=segment.manner.encryption_key_id,
    )
    digest = kept.digest
    if wiring.handover().offer(tenant, digest, kept.data) and sentence_spoken(claim, digest=digest):
        wiring.doorbell().ring_io()
    rescue(tenant, digest)
    wiring.object_store().put(audio_object(tenant, digest, STORED_FORMAT), kept.data, media_type)
    has_place = claim.stored and has_room(claim.tenant_id, claim.api_key_id, len(plain))
    entry = _entry(claim, segment, sound, digest=digest, size=len(plain)) if has_place else None
    handed_on = synthesis_succeeded(
        claim, digest=digest, duration=sound.pcm.duration, seconds=sound.seconds, entry=entry
    )
    if handed_on is None:
        metrics.engine_run(claim.engine, RunEnd.LATE)
        logger.warning("synthesis %s: the result of attempt %d came too late", claim.id, claim.attempt)
        discard(tenant, [(digest, STORED_FORMAT)])
        return
    if handed_on:
        wiring.doorbell().ring_io()
    _note(claim, segment, sound)


def _note(claim: Synthesis, segment: Segment, sound: Sound) -> None:
    metrics.engine_run(claim.engine, RunEnd.KEPT, seconds=sound.seconds)
    paces.learn(segment, sound.sounding)
    health.note_run(claim.engine, Run(sound.seconds, sound.pcm.duration))
    engine_time.note_run(
        TenantRef(claim.tenant_id),
        claim.engine,
        characters=len(segment.text),
        seconds=sound.seconds,
        audio=sound.pcm.duration,
    )


def _entry(claim: Synthesis, segment: Segment, sound: Sound, *, digest: str, size: int) -> Entry:
    return Entry(
        tenant_id=claim.tenant_id,
        kind=Entry.Kind.SEGMENT,
        key=claim.key,
        api_key_id=claim.api_key_id,
        engine=claim.engine,
        model_version=claim.model_version,
        voice=segment.manner.voice,
        category=claim.category,
        text=text_column(segment),
        references=references_column(segment.manner),
        sealed_by=segment.manner.encryption_key_id or "",
        digest=digest,
        format=STORED_FORMAT,
        media_type=get_format(STORED_FORMAT).media_type,
        size=size,
        duration=sound.pcm.duration,
        sample_rate=sound.pcm.sample_rate,
        made_at=database_now(),
        provenance={
            "engine_seconds": round(sound.seconds, 3),
            "worker": claim.worker,
            "seed": sound.seed,
            "tries": sound.tries,
        },
    )


def _retry(claim: Synthesis, failure: Failure) -> None:
    if claim.attempt >= MAX_ATTEMPTS or failure.repeats:
        _fail(claim, failure)
    else:
        give_back(claim, failure)


def _fail(claim: Synthesis, failure: Failure) -> None:
    ended = synthesis_failed(claim, failure)
    logger.warning("synthesis %s failed: %s", claim.id, failure.code)
    announce(wiring.redis_unless_away, ended)
