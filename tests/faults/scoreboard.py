"""What a row of the reliability scoreboard is: a fault, played on real processes, and the figures it must keep to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.stack import Stack

Figures = dict[str, float]
MakeStack = Callable[..., Stack]


@dataclass(frozen=True)
class Row:
    """`play(make_stack, seed=…, **size)` gives the figures. Every figure is a number that is better when lower.

    `limits` name what is required at most. `long_limits` hold for the long form alone: those of speed. `in_tests`: the
    short form is one of the tests.
    """

    name: str
    title: str
    play: Callable[..., Figures]
    short: Mapping[str, Any]
    long: Mapping[str, Any]
    limits: Mapping[str, float]
    long_limits: Mapping[str, float] = field(default_factory=dict)
    in_tests: bool = True

    def broken(self, figures: Figures, *, long: bool = False) -> list[str]:
        """What the figures fail to keep, in words."""
        limits = {**self.limits, **(self.long_limits if long else {})}
        return [
            f"{name} is {figures[name]:g}, more than {limit:g}"
            for name, limit in limits.items()
            if figures[name] > limit
        ]


def worst(runs: Sequence[Figures]) -> Figures:
    return {name: max(figures[name] for figures in runs) for name in runs[0]}
