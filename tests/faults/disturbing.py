"""Kills processes and restarts servers of a stack at random: what the chaos row plays under its load."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable

from tests.stack import Stack

LONGEST_AWAY = 1.5  # seconds between the death of a server and its start


class Disturber:
    """Plays each fault once in a random order, then each again, and so on. `played` counts them by name.

    To be used by the thread that started the stack: its processes end together with the thread that starts them.
    """

    def __init__(self, stack: Stack, dice: random.Random) -> None:
        self._stack = stack
        self._dice = dice
        self.played: Counter[str] = Counter()
        self._faults: dict[str, Callable[[], None]] = {
            "engine_worker": lambda: self._kill("engine"),
            "io_worker": lambda: self._kill("io"),
            "beat": lambda: self._kill("beat"),
            "api": lambda: self._kill("api"),
            "redis": self._restart_redis,
        }
        if stack.seeded.server is not None:
            self._faults["database"] = self._restart_database

    @property
    def kills(self) -> int:
        """Of processes that may have had an object in hand."""
        return self.played["engine_worker"] + self.played["io_worker"]

    @property
    def missing(self) -> int:
        """Faults that were not played yet."""
        return sum(name not in self.played for name in self._faults)

    def play(self, *, every: float, until: Callable[[], bool]) -> None:
        """One fault about every so many seconds, and each at least once."""
        while not until() or self.missing:
            for name in self._dice.sample(sorted(self._faults), len(self._faults)):
                threading.Event().wait(every * self._dice.uniform(0.5, 1.5))
                self._faults[name]()
                self.played[name] += 1
                if until() and not self.missing:
                    return

    def _kill(self, kind: str) -> None:
        """Kill one process of this kind with all that it started; a supervisor starts it again at once."""
        victim = self._dice.choice([child for child in self._stack.children if child.kind == kind])
        self._stack.kill(victim)
        self._stack.revive(victim)

    def _restart_redis(self) -> None:
        self._stack.redis.kill()
        threading.Event().wait(self._dice.uniform(0, LONGEST_AWAY))
        self._stack.redis.start()

    def _restart_database(self) -> None:
        """By a crash, or in good order."""
        server = self._stack.seeded.server
        assert server is not None
        self._dice.choice([server.kill, server.stop])()
        threading.Event().wait(self._dice.uniform(0, LONGEST_AWAY))
        server.start()
