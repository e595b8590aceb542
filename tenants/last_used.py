"""When each key was last used: noted on each request without SQL, written by a thread once a minute.

Authentication and the speech door call `note`. A process that is killed loses at most its last minute.
"""

import logging
import os
import threading
from datetime import datetime, timedelta
from multiprocessing.util import Finalize
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from tenants.models import ApiKey

logger = logging.getLogger(__name__)


class Recorder:
    """Collects notes and writes each key's time at most once per `interval` seconds, whoever else writes it."""

    def __init__(self, *, interval: float = 60.0) -> None:
        self.interval = interval
        self.reset()

    def reset(self) -> None:
        """Forget everything: a forked child must not write its parent's notes, nor wait for its locks."""
        self._notes: dict[UUID, datetime] = {}
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self, key_id: UUID) -> None:
        """Remember that this key was used now. Cheap, and never raises."""
        with self._lock:
            self._notes[key_id] = timezone.now()
            if self._thread is None:
                self._start()

    def flush(self) -> None:
        """Write what was noted, now. On a database error the notes are kept for the next time."""
        with self._flushing:
            with self._lock:
                notes, self._notes = self._notes, {}
            try:
                self._write(notes)
            except Exception as error:  # noqa: BLE001 - a key's last use is never worth a failure
                logger.warning("The last use of %d keys is not written yet: %s", len(notes), error)
                with self._lock:
                    self._notes = notes | self._notes

    def stop(self) -> None:
        """End the thread, and write what is left."""
        self._stopped.set()
        self.flush()

    def _write(self, notes: dict[UUID, datetime]) -> None:
        if not notes:
            return
        due = Q(last_used_at=None) | Q(last_used_at__lte=timezone.now() - timedelta(seconds=self.interval))
        rows = [ApiKey(id=key_id, last_used_at=used_at) for key_id, used_at in notes.items()]
        ApiKey.objects.filter(due).bulk_update(rows, ["last_used_at"])

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="last-used", daemon=True)
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


_recorder = Recorder()
os.register_at_fork(after_in_child=_recorder.reset)
note = _recorder.note
