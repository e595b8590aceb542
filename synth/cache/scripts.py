"""The Lua scripts beside this file, each loaded at its first use. A Redis that has lost them is sent them again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import NoScriptError


class Scripts:
    """Those of one part; a Cluster's client and pipelines take them, too."""

    def __init__(self) -> None:
        self._registered: dict[str, Any] = {}

    def __call__(self, name: str, redis: Redis) -> Any:
        """For pipelines: to be called with `keys`, `args` and `client`."""
        script = self._registered.get(name)
        if script is None:
            source = Path(__file__).with_name(f"{name}.lua").read_text(encoding="utf-8")
            script = self._registered[name] = redis.register_script(source)
        return script

    def run(self, name: str, redis: Redis, *, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """The script's answer. Where one connection serves, what redis-py does around a command is left out: half of

        what a round trip costs this process.
        """
        script = self(name, redis)
        if isinstance(redis, Redis):
            try:
                return _evaluated(redis.connection_pool, script.sha, keys=keys, args=args)
            except NoScriptError:
                pass
        return script(keys=keys, args=args, client=redis)


def _evaluated(pool: Any, sha: str, *, keys: Sequence[str], args: Sequence[Any]) -> Any:
    """A connection closes itself when its answer did not come whole."""
    connection = pool.get_connection()
    try:
        connection.send_command("EVALSHA", sha, len(keys), *keys, *args)
        return connection.read_response()
    finally:
        pool.release(connection)
