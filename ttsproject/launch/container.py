"""`python -m ttsproject.launch.container api|engine|io|beat`: becomes that process. The images run it.

The command lines are those of `make run`, for one process a container.
"""

import os
import sys
from typing import Final

from ttsproject.launch import services

PORT: Final = 8000
DEFAULT_MAX_WAITERS: Final = 48
# Beside the threads that requests may wait in: enough that hits never queue behind them.
THREADS_FOR_HITS: Final = 16


def command(kind: str) -> list[str]:
    """Raises KeyError for what is no kind of process, and for an engine worker without REFRAIN_ENGINES."""
    waiters = int(os.environ.get("REFRAIN_MAX_WAITERS") or DEFAULT_MAX_WAITERS)
    commands = {
        "api": lambda: services.api(PORT, threads=waiters + THREADS_FOR_HITS, host="0.0.0.0"),  # noqa: S104
        "engine": lambda: services.engine_worker("engine", _words(os.environ["REFRAIN_ENGINES"])),
        "io": lambda: services.io_worker("io"),
        "beat": services.beat,
    }
    return commands[kind]()


def main() -> None:
    os.umask(0o077)  # what tenants say is nobody else's
    words = command(sys.argv[1])
    os.execv(words[0], words)  # noqa: S606 - the signals of the container's end are for it


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


if __name__ == "__main__":
    main()
