"""The Lua scripts beside this file, each loaded at its first use. A Redis that has lost them is sent them again."""

from pathlib import Path
from typing import Any

from redis import Redis


class Scripts:
    """Those of one part; a Cluster's client and pipelines take them, too."""

    def __init__(self) -> None:
        self._registered: dict[str, Any] = {}

    def __call__(self, name: str, redis: Redis) -> Any:
        """To be called with `keys`, `args` and `client`."""
        script = self._registered.get(name)
        if script is None:
            source = Path(__file__).with_name(f"{name}.lua").read_text(encoding="utf-8")
            script = self._registered[name] = redis.register_script(source)
        return script
