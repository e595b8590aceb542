"""Equal misses in one process: one leads and has the work done, the others wait for it and look again.

Across processes the rows see to it that work is done once; this spares all but one request of a process the rows.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from synth.errors import SpeechFailed


class Flight:
    """Work that one request of this process leads. `failure` is set when it failed for all."""

    def __init__(self) -> None:
        self.landed = threading.Event()
        self.failure: SpeechFailed | None = None


class Flights:
    """Those of one process, by scoped rendition key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, Flight] = {}

    @contextmanager
    def boarded(self, name: str) -> Iterator[Flight | None]:
        """Give the flight that another request leads; or None to the one that leads from here to the body's end."""
        flight = Flight()
        with self._lock:
            ahead = self._under_way.setdefault(name, flight)
        if ahead is not flight:
            yield ahead
            return
        try:
            yield None
        except SpeechFailed as failure:
            flight.failure = failure
            raise
        finally:
            with self._lock:
                del self._under_way[name]
            flight.landed.set()
