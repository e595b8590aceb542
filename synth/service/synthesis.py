"""Claims sentences and speaks them: what an engine worker does when its bell rings."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from synth import cards, codec, engine_time, metrics, wiring
from synth.audio.checks import BadAudio, check
from synth.audio.durations import longest_plausible
from synth.audio.formats import get_format
from synth.audio.pcm import to_flac
from synth.conf import conf
from synth.engines.base import Engine, References, pieces
from synth.errors import Permanent, Retryable, WorkError
from synth.metrics import RunEnd
from synth.models import Entry, Synthesis
from synth.models.clock import database_now
from synth.queue.claim import MAX_ATTEMPTS, Worker, claim_synthesis, has_work
from synth.queue.doorbell import engine_queue
from synth.queue.lease import end_this_process, kept_alive
from synth.queue.shutdown import stopping
from synth.queue.wakeup import announce
from synth.service.endings import Failure, give_back, synthesis_failed, synthesis_succeeded
from synth.service.object_sweep import discard, rescue
from synth.service.references import load_references
from synth.stored import STORED_FORMAT, audio_object, references_column
from synth.types import EngineCard, Pcm, Segment
from tenants.types import TenantRef

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 30.0
ALIVE_EVERY = 20.0
_told_alive: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class Sound:
    """What one run of an engine gave, and the seconds that it took."""

    pcm: Pcm
    seconds: float


def drain_engine(engine: Engine, worker: Worker) -> None:
    """Speak sentence after sentence for at most 30 s, then ring again. Looks for a shutdown between two."""
    card, doorbell = engine.card, wiring.doorbell()
    doorbell.answered(engine_queue(card.name))
    _tell_alive(card)
    ends_at = time.monotonic() + DRAIN_SECONDS
    first = True
    while time.monotonic() < ends_at and not stopping.is_set():
        claim = claim_synthesis(card.name, card.model_version, worker)
        if claim is None:
            return
        if first and has_work(card.name, card.model_version):
            doorbell.ring_engine(card.name)  # there is more: other workers may help
        first = False
        synthesize(claim, engine)
    doorbell.ring_engine(card.name)


def _tell_alive(card: EngineCard) -> None:
    """Note on the card that a worker lives, not at every bell."""
    now = time.monotonic()
    if now - _told_alive.get(card.name, -ALIVE_EVERY) >= ALIVE_EVERY:
        cards.seen(card.name, card.model_version)
        _told_alive[card.name] = now


def synthesize(claim: Synthesis, engine: Engine) -> None:
    """Run the engine for one claimed sentence; store, publish, or say why not."""
    if claim.attempt > MAX_ATTEMPTS:
        return _fail(claim, Failure(code=claim.error_code or "worker_lost", detail="Every attempt lost its worker."))
    segment = codec.from_json(Segment, claim.segment)
    speed = segment.manner.speed
    deadline = conf().deadline + conf().deadline_factor * longest_plausible(segment.text, speed)
    try:
        with kept_alive(
            claim, lease=conf().lease, interval=conf().heartbeat, deadline=deadline, at_deadline=end_this_process
        ):
            sound = _speak(engine, segment, load_references(TenantRef(claim.tenant_id), segment.manner))
            check(sound.pcm, text=segment.text, speed=speed)
            _publish(claim, segment, sound)
    except Permanent as error:
        _fail(claim, Failure(code=error.code, detail=error.detail, repeats=True))
    except BadAudio as error:
        metrics.engine_run(claim.engine, RunEnd.REFUSED)
        _retry(claim, Failure(code=error.code, detail=error.detail, repeats=engine.card.deterministic))
    except (WorkError, MemoryError) as error:
        _retry(claim, Failure(code=getattr(error, "code", "out_of_memory"), detail=str(error)))
    except Exception:  # whatever it was: the sentence must not wait for its lease to run out
        logger.exception("synthesis %s broke", claim.id)
        _retry(claim, Failure(code="internal_error"))
    return None


def _speak(engine: Engine, segment: Segment, references: References) -> Sound:
    started = time.perf_counter()
    try:
        pcm = _whole(pieces(engine, segment, references))
    except (WorkError, MemoryError):
        metrics.engine_run(segment.manner.engine, RunEnd.FAILED)
        raise
    except Exception as error:  # engines are foreign code: whatever they raise must not end the worker
        metrics.engine_run(segment.manner.engine, RunEnd.FAILED)
        logger.exception("engine %s failed", segment.manner.engine)
        raise Retryable(type(error).__name__, code="engine_error") from error
    return Sound(pcm, time.perf_counter() - started)


def _whole(spoken: Iterator[Pcm]) -> Pcm:
    first, *others = spoken
    if not others:
        return first
    return Pcm(np.concatenate([first.samples, *(piece.samples for piece in others)]), first.sample_rate)


def _publish(claim: Synthesis, segment: Segment, sound: Sound) -> None:
    """Bytes to storage under their digest, then the fenced commit, then the bells."""
    data = to_flac(sound.pcm)
    digest = sha256(data).hexdigest()
    tenant = TenantRef(claim.tenant_id)
    name = audio_object(tenant, digest, STORED_FORMAT)
    rescue(tenant, digest)
    wiring.object_store().put(name, data, get_format(STORED_FORMAT).media_type)
    entry = _entry(claim, segment, sound, digest=digest, size=len(data)) if claim.stored else None
    if synthesis_succeeded(claim, digest=digest, duration=sound.pcm.duration, seconds=sound.seconds, entry=entry):
        wiring.handover().offer(tenant, digest, data)
        wiring.doorbell().ring_io()
        _note(claim, segment, sound)
    else:
        metrics.engine_run(claim.engine, RunEnd.LATE)
        logger.warning("synthesis %s: the result of attempt %d came too late", claim.id, claim.attempt)
        discard(tenant, [(digest, STORED_FORMAT)])


def _note(claim: Synthesis, segment: Segment, sound: Sound) -> None:
    metrics.engine_run(claim.engine, RunEnd.KEPT, seconds=sound.seconds)
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
        engine=claim.engine,
        model_version=claim.model_version,
        voice=segment.manner.voice,
        category=claim.category,
        text=segment.text,
        references=references_column(segment.manner),
        digest=digest,
        format=STORED_FORMAT,
        media_type=get_format(STORED_FORMAT).media_type,
        size=size,
        duration=sound.pcm.duration,
        sample_rate=sound.pcm.sample_rate,
        made_at=database_now(),
        provenance={"engine_seconds": round(sound.seconds, 3), "worker": claim.worker, "seed": segment.manner.seed},
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
