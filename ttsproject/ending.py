"""An API process that is told to end answers those who wait at once: 202, their jobs go on. `wsgi.py` calls it."""

import os
import signal
import threading

from synth import wiring

ENDINGS = frozenset({signal.SIGTERM, signal.SIGINT})


def dismiss_waiters_at_the_end() -> None:
    """Beside the server's own handlers, which come later and take the place of any that were here before.

    Python writes the number of every signal to one file as well. That can be set in the main thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_dismiss_when_told, args=[reading], name="ending", daemon=True).start()


def _dismiss_when_told(reading: int) -> None:
    while number := os.read(reading, 1):
        if number[0] in ENDINGS:
            wiring.listener().dismiss()
            return
