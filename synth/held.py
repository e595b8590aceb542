"""An engine that a worker process holds: dropped when there was no work for a while, loaded again when there is some.

Its card stays in any case: who holds it goes on telling that it lives.
"""

import gc
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from synth import wiring
from synth.engines.base import Engine, UnloadableEngine
from synth.memory import forget_most
from synth.types import EngineCard

logger = logging.getLogger(__name__)

TRY_AGAIN_AFTER = 30.0


class HeldEngine:
    """One engine by its name. Not loaded yet; one thread at a time has it in hand."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.card: EngineCard | None = None
        self._engine: Engine | None = None
        self._used_at = time.monotonic()
        self._try_again_at = 0.0
        self._in_hand = threading.Lock()

    @property
    def is_loaded(self) -> bool:
        return self._engine is not None

    def load(self) -> EngineCard:
        """Raises whatever the engine raises, EngineUnavailable above all."""
        with self._in_hand:
            return self._loaded().card

    @contextmanager
    def in_hand(self) -> Iterator[Engine]:
        """The engine, loaded anew where it was dropped; nobody drops it meanwhile. Raises as `load` does."""
        with self._in_hand:
            yield self._loaded()

    @property
    def is_loadable(self) -> bool:
        """Whether to try. One that could not be loaded is left alone for a while, however often there is work."""
        return time.monotonic() >= self._try_again_at

    def was_used(self) -> None:
        """It had work to do; a bell alone is none."""
        self._used_at = time.monotonic()

    def drop_if_idle(self, after: float) -> bool:
        """Drop the model when it had nothing to do for so many seconds; whether it did."""
        if not self._in_hand.acquire(blocking=False):
            return False
        try:
            engine = self._engine
            if engine is None or time.monotonic() - self._used_at < after:
                return False
            self._engine = None
            _unload(engine)
            del engine
            gc.collect()
            return True
        finally:
            self._in_hand.release()

    def _loaded(self) -> Engine:
        if self._engine is None:
            started = time.monotonic()
            self._try_again_at = started + TRY_AGAIN_AFTER
            self._engine = wiring.load_engine(self.name)
            self._try_again_at = 0.0
            self.card = self._engine.card
            self._used_at = time.monotonic()
            forget_most()
            took = self._used_at - started
            logger.info("engine %s %s is loaded, in %.1f s", self.name, self.card.model_version, took)
        return self._engine


def _unload(engine: Engine) -> None:
    if isinstance(engine, UnloadableEngine):
        try:
            engine.unload()
        except Exception:  # foreign code: it is dropped all the same
            logger.exception("engine %s does not let go of its memory", engine.card.name)
