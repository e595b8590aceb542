"""A circuit breaker: once a part fails, later requests do not pay its time-out again. One a part and process."""

import logging
import threading
import time
from collections.abc import Callable

from synth import metrics

logger = logging.getLogger(__name__)

SETTLED_AFTER = 2.5  # pauses without a failure


class Breaker:
    """Closed: all pass. Open: none pass for `pause` seconds, then one tries.

    With a `probe` no request has to try: it is made beside them, every `pause` seconds until it succeeds, and it alone
    closes the breaker. Logs and counts once an episode: what fails again soon after a success was never really back.
    """

    def __init__(self, name: str, *, pause: float = 2.0, probe: Callable[[], object] | None = None) -> None:
        self._name = name
        self._pause = pause
        self._probe = probe
        self._lock = threading.Lock()
        self._open_until = 0.0
        self._failed_at = 0.0
        self._open = False
        self._in_trouble = False
        self._label = name.removeprefix("the ").lower().replace(" ", "_")

    @property
    def is_open(self) -> bool:
        """Whether the part counts as away; asking lets nobody through."""
        return self._open

    @property
    def in_trouble(self) -> bool:
        """Whether it is away, or came back so lately that it may be away again."""
        return self._in_trouble

    def allows(self) -> bool:
        """Whether to try now. Without a probe one caller is let through every `pause` seconds while it is open."""
        if not self._open:
            return True
        if self._probe is not None:
            return False
        with self._lock:
            now = time.monotonic()
            if now < self._open_until:
                return False
            self._open_until = now + self._pause
            return True

    def succeeded(self) -> None:
        """To be told after each call."""
        if self._in_trouble and not (self._open and self._probe):
            self._close()

    def failed(self, error: BaseException) -> None:
        with self._lock:
            self._failed_at = time.monotonic()
            self._open_until = self._failed_at + self._pause
            self._open = True
            first, self._in_trouble = not self._in_trouble, True
        if first and self._probe is not None:
            threading.Thread(target=self._watch, args=(self._probe,), name="probe", daemon=True).start()
        if first:
            metrics.breaker(self._label, is_open=True)
            logger.warning("%s is away: %s", self._name, error)

    def _watch(self, probe: Callable[[], object]) -> None:
        """One thread an episode."""
        while self._in_trouble:
            time.sleep(self._pause)
            try:
                if self._open:
                    probe()
            except Exception:  # noqa: BLE001 - whatever it is, the part is not back
                self._failed_at = time.monotonic()
            else:
                self._close()

    def _close(self) -> None:
        with self._lock:
            self._open = False
            settled = self._in_trouble and time.monotonic() >= self._failed_at + SETTLED_AFTER * self._pause
            if settled:
                self._in_trouble = False
        if settled:
            metrics.breaker(self._label, is_open=False)
            logger.warning("%s is back", self._name)
