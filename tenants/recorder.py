"""Notes that a process collects without SQL, and writes from a thread of its own: keys' last use, engines' time."""

import logging
import threading
from multiprocessing.util import Finalize
from typing import Generic, TypeVar

from django.db import connection

Key = TypeVar("Key")
Value = TypeVar("Value")

logger = logging.getLogger(__name__)


class Recorder(Generic[Key, Value]):
    """Subclasses say how two notes on one key are merged, and how notes are written. `what` is for the log.

    A process that is killed loses what it noted since the last write.
    """

    what = "notes"

    def __init__(self, *, interval: float) -> None:
        self.interval = interval
        self.reset()

    def reset(self) -> None:
        """Forget everything: a forked child must not write its parent's notes, nor wait for its locks."""
        self._notes: dict[Key, Value] = {}
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def merge(self, older: Value, newer: Value) -> Value:  # noqa: ARG002 - the newer one counts
        return newer

    def write(self, notes: dict[Key, Value]) -> None:
        raise NotImplementedError

    def add(self, key: Key, value: Value) -> None:
        """Remember this. Cheap, and never raises."""
        with self._lock:
            self._merge_in({key: value})
            if self._thread is None:
                self._start()

    def flush(self) -> None:
        """Write what was noted, now. On an error the notes are kept for the next time."""
        with self._flushing:
            with self._lock:
                notes, self._notes = self._notes, {}
            try:
                if notes:
                    self.write(notes)
            except Exception as error:  # noqa: BLE001 - no note is worth a failure
                logger.warning("%s: %d notes are not written yet: %s", self.what, len(notes), error)
                with self._lock:
                    later, self._notes = self._notes, notes
                    self._merge_in(later)

    def stop(self) -> None:
        """End the thread, and write what is left."""
        self._stopped.set()
        self.flush()

    def _merge_in(self, notes: dict[Key, Value]) -> None:
        for key, value in notes.items():
            self._notes[key] = self.merge(self._notes[key], value) if key in self._notes else value

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name=self.what, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no thread to be had, or the interpreter ends: the next note tries again
            return
        self._thread = thread
        # Unlike atexit this also runs at the end of a multiprocessing child, which a server's worker often is.
        Finalize(None, self.stop, exitpriority=1)

    def _run(self) -> None:
        while not self._stopped.wait(self.interval):
            try:
                self.flush()
            finally:
                connection.close()
