"""Lets few requests of a process compute at a time, the first come first; `synth/api/express.py` asks for a turn.

Python runs one thread at a time and hands over at every wait for Redis or the database. So fifty requests at once would
all get ahead evenly, and the one whose work the others wait for would have it begun as late as the last.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext


class Turns:
    """`at_once` requests have a turn; one that got none within `patience` seconds goes on without: no part that hangs

    may stop the requests behind it. Of requests with one name the first goes ahead; the others follow once it has
    ended, or `deference` seconds later: by then its work has begun, and they have nothing to do but to wait for it.
    """

    def __init__(self, at_once: int, *, patience: float, deference: float) -> None:
        self._free = threading.BoundedSemaphore(at_once)
        self._patience = patience
        self._deference = deference
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._ahead: dict[bytes, threading.Event] = {}

    @contextmanager
    def taken(self, name: bytes | None = None) -> Iterator[None]:
        with nullcontext() if name is None else self._followed(name):
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

    @contextmanager
    def _followed(self, name: bytes) -> Iterator[None]:
        ended = threading.Event()
        with self._lock:
            ahead = self._ahead.setdefault(name, ended)
        if ahead is not ended:
            ahead.wait(self._deference)
            yield
            return
        try:
            yield
        finally:
            with self._lock:
                del self._ahead[name]
            ended.set()

    def _take(self) -> None:
        self._of_thread.has = self._free.acquire(timeout=self._patience)

    def _give(self) -> bool:
        had = getattr(self._of_thread, "has", False)
        if had:
            self._of_thread.has = False
            self._free.release()
        return had
