"""Equal misses in one process: one submits its work and waits for it, the others wait for that one and look again.

Across processes the rows see to it that work is done once; this spares all but one request the rows.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from synth.errors import SpeechFailed


class Flight:
    """Work that one request of this process waits for. `failure` is set when it failed for all."""

    def __init__(self) -> None:
        self.landed = threading.Event()
        self.failure: SpeechFailed | None = None


class Flights:
    """Those of one process, by scoped rendition key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, Flight] = {}

    def find(self, name: str) -> Flight | None:
        with self._lock:
            return self._under_way.get(name)

    @contextmanager
    def led(self, name: str) -> Iterator[None]:
        """A flight that lands when the body ends, however it does. Of two at once, one is not seen."""
        flight = Flight()
        with self._lock:
            self._under_way.setdefault(name, flight)
        try:
            yield
        except SpeechFailed as failure:
            flight.failure = failure
            raise
        finally:
            with self._lock:
                if self._under_way.get(name) is flight:
                    del self._under_way[name]
            flight.landed.set()
