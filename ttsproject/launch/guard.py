"""Kills what the launcher started when the launcher itself is killed and cannot: it also reaches grandchildren.

The launcher and the tests hold a Guard; this file, run by itself, is the process that watches.
"""

import contextlib
import os
import signal
import subprocess
import sys
from typing import IO


class Guard:
    """A process of its own that waits for the end of this one, then kills every process group still named to it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - all words are ours
            [sys.executable, "-S", "-E", __file__], stdin=subprocess.PIPE, start_new_session=True
        )

    def watch(self, group: int) -> None:
        self._say(f"+{group}")

    def forget(self, group: int) -> None:
        """Its number may belong to somebody else soon."""
        self._say(f"-{group}")

    def close(self) -> None:
        """Kills what is still named, too."""
        with contextlib.suppress(BrokenPipeError):
            self._pipe.close()
        self._process.wait()

    @property
    def _pipe(self) -> IO[bytes]:
        pipe = self._process.stdin
        assert pipe is not None  # noqa: S101 - by Popen's stdin above
        return pipe

    def _say(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._pipe.write(f"{line}\n".encode())
            self._pipe.flush()


def kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def main() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        if line.startswith("+"):
            groups.add(int(line))
        else:
            groups.discard(-int(line))
    for group in groups:
        kill_group(group)


if __name__ == "__main__":
    main()
