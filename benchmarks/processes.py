"""CPU time of a stack's processes, from /proc: benchmarks take it before and after what they measure."""

from __future__ import annotations

import os
from pathlib import Path

from tests.stack import Stack

TICKS = os.sysconf("SC_CLK_TCK")
# Counted from the word after the command in /proc/<pid>/stat.
SESSION = 3
OWN_AND_ENDED_CHILDREN = slice(11, 15)


def stack_cpu(stack: Stack) -> float:
    """Seconds of CPU that the API, the workers, the scheduler and Redis have had so far."""
    with stack.redis.client() as redis:
        server = int(redis.info("server")["process_id"])
    return session_cpu(*(child.pid for child in stack.children)) + _seconds(_stat(server))


def session_cpu(*leaders: int) -> float:
    """Of the living processes of these sessions, and of those of their children that have ended."""
    stats = (_stat(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return sum(_seconds(words) for words in stats if words and int(words[SESSION]) in leaders)


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _seconds(words: list[str]) -> float:
    return sum(map(int, words[OWN_AND_ENDED_CHILDREN])) / TICKS
