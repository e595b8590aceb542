"""So many at a time: a statement takes a bounded number of parameters, and a lock should not be held for long."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def chunks(items: Sequence[Item], size: int = 500) -> Iterable[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))
