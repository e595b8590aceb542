"""Lets few requests of a process compute at a time, the first come first; the hot door asks for a turn.

Python runs one thread at a time and hands over at every wait for Redis or the database. So fifty requests at once would
all get ahead evenly, and the one whose work the others wait for would have it begun as late as the last.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """`at_once` requests have a turn. One that got none within `patience` seconds goes on without: no part that hangs

    may stop the requests behind it.
    """

    def __init__(self, at_once: int, *, patience: float) -> None:
        self._free = threading.BoundedSemaphore(at_once)
        self._patience = patience
        self._of_thread = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        self._take()
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """For a wait: others have the turn meanwhile."""
        had = self._give()
        try:
            yield
        finally:
            if had:
                self._take()

    def _take(self) -> None:
        self._of_thread.has = self._free.acquire(timeout=self._patience)

    def _give(self) -> bool:
        had = getattr(self._of_thread, "has", False)
        if had:
            self._of_thread.has = False
            self._free.release()
        return had
