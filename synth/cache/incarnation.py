"""Which run of Redis this process talks to. One that came back may have lost its last writes, a revocation among

them: what this process took for confirmed by it counts no more. The connection pool calls `note_connection`.
"""

import threading
from typing import Any

from cachetools import LRUCache
from redis import ResponseError

MAX_NODES = 1_000


class Incarnation:
    """`number` grows whenever Redis was away, or is another run than before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: LRUCache[str, str] = LRUCache(MAX_NODES)
        self.number = 0

    def connected_to(self, run_id: str, *, node: str = "") -> None:
        """An unknown run ('') counts as another one each time: that costs queries, and never lets anything pass.

        `node` is one of a Cluster. Whatever Sentinels name has none: what they promote is another run of one server.
        """
        with self._lock:
            if not run_id or run_id != self._runs.get(node):
                self._runs[node] = run_id
                self.number += 1

    def was_away(self) -> None:
        with self._lock:
            self.number += 1


incarnation = Incarnation()


def note_connection(connection: Any) -> None:
    """What redis-py calls once a connection stands: its usual greeting, and one question more."""
    connection.on_connect()
    connection.send_command("INFO", "server")
    incarnation.connected_to(_told(connection, "run_id"))


def note_node(connection: Any) -> None:
    """The same for a node of a Cluster, whose client has sent the greeting. A promoted replica is another run."""
    connection.send_command("INFO", "server")
    run_id = _told(connection, "run_id")
    connection.send_command("INFO", "replication")
    role = _told(connection, "role")
    incarnation.connected_to(run_id and f"{run_id} {role}", node=f"{connection.host}:{connection.port}")


def _told(connection: Any, name: str) -> str:
    """The value that INFO has under this name, or '' from a server or a proxy that does not tell."""
    try:
        told = connection.read_response()
    except ResponseError:
        return ""
    text = told.decode() if isinstance(told, bytes) else str(told)
    found = [line.partition(":")[2] for line in text.splitlines() if line.startswith(f"{name}:")]
    return found[0] if found else ""
