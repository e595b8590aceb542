"""How the memory of a stack's processes grows: for the soak."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import linear_regression

from synth.memory import PAGE
from tests.stack import Stack

EVERY = 2.0
WARM_UP = 1 / 3  # of the time, in which caches and pools fill


class MemoryWatch:
    """Looks at the resident memory of every process and its children, again and again."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._ended = threading.Event()
        self._notes: dict[str, list[tuple[float, float]]] = defaultdict(list)

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join(30)

    def growths(self) -> dict[str, float]:
        """MiB an hour, by the straight line through what was seen after the warm-up; by process."""
        return {name: _slope(notes[round(len(notes) * WARM_UP) :]) for name, notes in self._notes.items()}

    def _watch(self) -> None:
        while not self._ended.wait(EVERY):
            resident = _resident_by_group()
            for child in self._stack.children:
                self._notes[child.name].append((time.monotonic() / 3600, resident[child.pid] / 2**20))


def _slope(notes: list[tuple[float, float]]) -> float:
    if len(notes) < 3:
        return 0.0
    times, sizes = zip(*notes, strict=True)
    return linear_regression(times, sizes).slope


def resident_mib(group: int) -> float:
    """What a process and its children hold now."""
    return _resident_by_group()[group] / 2**20


def _resident_by_group() -> dict[int, int]:
    """Bytes of each process group."""
    resident: dict[int, int] = defaultdict(int)
    for path in Path("/proc").glob("[0-9]*"):
        try:
            group = int((path / "stat").read_text().rpartition(")")[2].split()[2])
            resident[group] += int((path / "statm").read_text().split()[1]) * PAGE
        except (OSError, IndexError):
            continue  # it has ended meanwhile
    return resident
