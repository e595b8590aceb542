"""Quotas of one of several processes while Redis is away: each may give out its share of what is left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache

MAX_COUNTS = 20_000


class Counted(NamedTuple):
    """A quota, the name of its count, and when the present day or month of it began."""

    name: str
    limit: int
    begins: date


@dataclass(slots=True)
class _Alone:
    begins: date
    before: int
    taken: int = 0


class LocalQuotas:
    """What was used before is read from the database once for each time that Redis is away; all processes together

    then give out no more than is left. What was taken alone is owed to Redis, which adds it once it is back.
    """

    def __init__(self, *, processes: int) -> None:
        self._processes = processes
        self._lock = Lock()
        self._alone: LRUCache[str, _Alone] = LRUCache(MAX_COUNTS)

    @property
    def stood_alone(self) -> bool:
        """Whether anything was taken that Redis was not told of."""
        return bool(self._alone)

    def owed(self, counted: Sequence[Counted]) -> tuple[int, ...]:
        """By quota, in their order."""
        with self._lock:
            found = [(item, self._alone.get(item.name)) for item in counted]
        return tuple(alone.taken if alone and alone.begins == item.begins else 0 for item, alone in found)

    def settled(self, counted: Sequence[Counted]) -> None:
        """Redis, or the database that it was begun by, knows of them."""
        with self._lock:
            for item in counted:
                self._alone.pop(item.name, None)

    def take(
        self, counted: Sequence[Counted], characters: int, *, used: Callable[[], Sequence[int]]
    ) -> tuple[list[int], int | None]:
        """What is used of each, and the place of the quota that refuses, if one does; then nothing is taken.

        `used` asks the database, by quota.
        """
        if any(self._known(item) is None for item in counted):
            before = used()
            with self._lock:
                for item, amount in zip(counted, before, strict=True):
                    if self._known(item) is None:
                        self._alone[item.name] = _Alone(item.begins, amount)
        with self._lock:
            alone = [self._known(item) or _Alone(item.begins, item.limit) for item in counted]
            for place, (item, one) in enumerate(zip(counted, alone, strict=True)):
                if one.taken + characters > max(0, item.limit - one.before) // self._processes:
                    return [each.before + each.taken for each in alone], place
            for one in alone:
                one.taken += characters
            return [each.before + each.taken for each in alone], None

    def give_back(self, counted: Sequence[Counted], characters: int) -> None:
        with self._lock:
            for one in map(self._known, counted):
                if one is not None:
                    one.taken = max(0, one.taken - characters)

    def _known(self, item: Counted) -> _Alone | None:
        found = self._alone.get(item.name)
        return found if found and found.begins == item.begins else None
