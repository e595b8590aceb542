"""A circuit breaker: once a part fails, later requests do not pay its time-out again. One a part and process."""

import logging
import threading
import time

from synth import metrics

logger = logging.getLogger(__name__)


class Breaker:
    """Closed: all pass. Open: none pass for `pause` seconds, then one tries. Logs each change once."""

    def __init__(self, name: str, *, pause: float = 2.0) -> None:
        self._name = name
        self._pause = pause
        self._lock = threading.Lock()
        self._open_until = 0.0
        self._open = False
        self._label = name.removeprefix("the ").lower().replace(" ", "_")

    def allows(self) -> bool:
        """Whether to try now. While open, every `pause` seconds one caller is let through."""
        if not self._open:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._open_until:
                return False
            self._open_until = now + self._pause
            return True

    def succeeded(self) -> None:
        if self._open:
            with self._lock:
                self._open = False
            metrics.breaker(self._label, is_open=False)
            logger.warning("%s is back", self._name)

    def failed(self, error: BaseException) -> None:
        with self._lock:
            self._open_until = time.monotonic() + self._pause
            first, self._open = not self._open, True
        if first:
            metrics.breaker(self._label, is_open=True)
            logger.warning("%s is away: %s", self._name, error)
