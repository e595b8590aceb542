"""Runs an engine for one sentence until its sound passes the quality gate; called by synthesis.py within a claim.

What is asked of the engine a second time differs from the first only by a seed that the caller left open.
"""

import gc
import logging
import secrets
import time
from dataclasses import dataclass, replace

from synth import metrics, paces
from synth.audio.checks import BadAudio, check, longest
from synth.audio.pcm import whole
from synth.conf import conf
from synth.controls import MAX_SEED
from synth.engines.base import Engine, FrugalEngine, References, pieces
from synth.errors import Retryable, WorkError
from synth.metrics import RunEnd
from synth.types import EngineCard, Manner, Pcm, Segment

logger = logging.getLogger(__name__)

OUT_OF_MEMORY = "out_of_memory"
# A further try must fit into what is left of the deadline, with some time to store what it gave.
MARGIN = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """What an engine gave in the end: the seconds that the last run took, those that sound, the seed that it was told,
    None where the engine chose by itself, and how many runs it took.
    """

    pcm: Pcm
    seconds: float
    sounding: float
    seed: int | None
    tries: int


def speak(engine: Engine, segment: Segment, references: References, *, ends_at: float) -> Sound:
    """The first sound that passes the check. `ends_at` is the claim's deadline, by `time.monotonic`.

    Raises BadAudio once the tries are used up, no time is left, or another run would give the same.
    """
    card, manner = engine.card, segment.manner
    usual = paces.known(manner)
    tries = 0
    while True:
        tries += 1
        asked = _seeded(segment, card, first=tries == 1)
        started = time.perf_counter()
        pcm = _run_with_memory(engine, asked, references)
        seconds = time.perf_counter() - started
        try:
            sounding = check(pcm, text=asked.text, speed=manner.speed, duration=manner.duration, paces=usual)
        except BadAudio as error:
            metrics.engine_run(manner.engine, RunEnd.REFUSED)
            logger.info("run %d of %s is refused: %s", tries, manner.engine, error.detail)
            fits = time.monotonic() + MARGIN * seconds < ends_at
            if tries > conf().quality_tries or not fits or gives_the_same(card, manner):
                raise
        else:
            return Sound(pcm=pcm, seconds=seconds, sounding=sounding, seed=asked.manner.seed, tries=tries)


def gives_the_same(card: EngineCard, manner: Manner) -> bool:
    """Whether every run gives the same sound: a seed that the caller sent is never replaced."""
    if "seed" in card.controls:
        return manner.seed is not None
    return card.deterministic


def _seeded(segment: Segment, card: EngineCard, *, first: bool) -> Segment:
    """With a drawn seed where the caller left it open, so that it can be told. One whose engine always gives the same
    is left open at first: what it then says does not depend on chance.
    """
    if "seed" not in card.controls or segment.manner.seed is not None or (first and card.deterministic):
        return segment
    return replace(segment, manner=replace(segment.manner, seed=secrets.randbelow(MAX_SEED + 1)))


def _run_with_memory(engine: Engine, segment: Segment, references: References) -> Pcm:
    """One run, and for want of memory a second one, once the engine has let go of what it can."""
    try:
        return _run(engine, segment, references)
    except (MemoryError, Retryable) as error:
        if getattr(error, "code", OUT_OF_MEMORY) != OUT_OF_MEMORY:
            raise
        logger.warning("engine %s is out of memory: %s", segment.manner.engine, error)
    # After the handler: the error held on to everything that the run had made.
    gc.collect()
    if isinstance(engine, FrugalEngine):
        engine.release_memory()
    return _run(engine, segment, references)


def _run(engine: Engine, segment: Segment, references: References) -> Pcm:
    try:
        return _joined(engine, segment, references)
    except (WorkError, MemoryError):
        metrics.engine_run(segment.manner.engine, RunEnd.FAILED)
        raise
    except Exception as error:  # engines are foreign code: whatever they raise must not end the worker
        metrics.engine_run(segment.manner.engine, RunEnd.FAILED)
        name = type(error).__name__
        if name == "OutOfMemoryError":  # torch's
            raise Retryable(name, code=OUT_OF_MEMORY) from error
        logger.exception("engine %s failed", segment.manner.engine)
        raise Retryable(name, code="engine_error") from error


def _joined(engine: Engine, segment: Segment, references: References) -> Pcm:
    """Every piece; but no more of one that has run away than the check needs to see that it has."""
    manner = segment.manner
    most = longest(segment.text, speed=manner.speed, duration=manner.duration)
    given: list[Pcm] = []
    spoken = 0.0
    for piece in pieces(engine, segment, references):
        given.append(piece)
        spoken += piece.duration
        if spoken > most:
            break
    return whole(given, sample_rate=engine.card.sample_rate)
