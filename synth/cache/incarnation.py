"""Which run of Redis this process talks to. One that came back may have lost its last writes, a revocation among

them: what this process took for confirmed by it counts no more. The connection pool calls `note_connection`.
"""

import threading
from typing import Any

from redis import ResponseError


class Incarnation:
    """`number` grows whenever Redis was away, or is another run than before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._run_id = ""
        self.number = 0

    def connected_to(self, run_id: str) -> None:
        """An unknown run ('') counts as another one each time: that costs queries, and never lets anything pass."""
        with self._lock:
            if not run_id or run_id != self._run_id:
                self._run_id = run_id
                self.number += 1

    def was_away(self) -> None:
        with self._lock:
            self.number += 1


incarnation = Incarnation()


def note_connection(connection: Any) -> None:
    """What redis-py calls once a connection stands: its usual greeting, and one question more."""
    connection.on_connect()
    connection.send_command("INFO", "server")
    incarnation.connected_to(_run_id(connection))


def _run_id(connection: Any) -> str:
    try:
        told = connection.read_response()
    except ResponseError:  # a server or a proxy that does not tell
        return ""
    text = told.decode() if isinstance(told, bytes) else str(told)
    found = [line.partition(":")[2] for line in text.splitlines() if line.startswith("run_id:")]
    return found[0] if found else ""
