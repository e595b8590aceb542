"""How fast a voice speaks, learned from sounds that were kept: what checks.py holds a new sound against. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from synth.audio.durations import extent

# A shorter text, or one of figures and abbreviations, tells little of a pace.
LEAST_LETTERS = 12
MOST_OPEN_ENDED = 0.1
# So many sounds are needed before what they tell counts, and so many are remembered: later ones outweigh the first.
LEAST_COUNT = 50
MOST_COUNT = 1000
# The range is at least from half to twice the usual; it is wider where the sounds differ more among themselves.
NARROWEST = math.log(2)
DEVIATIONS = 4
# On top: for a short text these are most of what is allowed.
SLACK_ABOVE_S = 1.0
SLACK_BELOW_S = 0.3


@dataclass(frozen=True, slots=True)
class Paces:
    """Logarithms of seconds per letter (see `durations.Extent`): how many, their mean, and the sum of the squares of
    their distances from it.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def __add__(self, other: Paces) -> Paces:
        """Of both together, as if they had been seen one by one (Chan, Golub, LeVeque 1979)."""
        count = self.count + other.count
        if not count:
            return self
        apart = other.mean - self.mean
        squares = self.squares + other.squares + apart * apart * self.count * other.count / count
        return Paces(count, self.mean + apart * other.count / count, squares)

    def faded(self) -> Paces:
        """No more than MOST_COUNT of them, spread as they are: what comes next weighs something for ever."""
        if self.count <= MOST_COUNT:
            return self
        return Paces(MOST_COUNT, self.mean, self.squares * MOST_COUNT / self.count)

    @property
    def deviation(self) -> float:
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0

    @property
    def seconds_per_letter(self) -> float:
        return math.exp(self.mean)


def observed(text: str, sounding: float, *, speed: float = 1.0) -> Paces:
    """What this sound tells of the pace; none where the text tells too little. `sounding` is seconds without pauses."""
    found = extent(text)
    if found.letters < LEAST_LETTERS or found.open_ended > 1 + MOST_OPEN_ENDED * len(text) or sounding <= 0:
        return Paces()
    return Paces(1, math.log(sounding * speed / found.letters))


def plausible(text: str, paces: Paces, *, speed: float = 1.0) -> tuple[float, float] | None:
    """The least and the most seconds of sound that this text should have by what was learned; None: too little was."""
    if paces.count < LEAST_COUNT:
        return None
    found, wide = extent(text), max(NARROWEST, DEVIATIONS * paces.deviation)
    usual = paces.seconds_per_letter * found.letters
    least = usual / math.exp(wide) - SLACK_BELOW_S
    most = usual * math.exp(wide) + SLACK_ABOVE_S + found.extra
    return max(0.0, least) / speed, most / speed
