"""How long a text may take to say. Pure: asked by checks.py, and by the queue for its deadlines."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

SHORTEST_S = 0.08
SLACK_S = 4.0
SILENCE_S = 2.5
MARK_S = 0.25  # of sound: a colon may be read out, and what stands before a mark is drawn out


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that one character may take: the fastest and the slowest that real speech shows."""

    shortest: float
    longest: float

    @property
    def usual(self) -> float:
        return math.sqrt(self.shortest * self.longest)


IDEOGRAPH = Pace(0.08, 0.8)
SYLLABLE = Pace(0.06, 0.6)  # Hangul
KANA = Pace(0.04, 0.4)
LETTER = Pace(0.02, 0.25)
CAPITAL = Pace(0.02, 0.7)  # may be spelled: W
DIGIT = Pace(0.03, 1.2)  # a figure of 777 takes eight words, one of 1000 two
SYMBOL = Pace(0.0, 1.2)  # may be said or not: %, @, an emoji
PAUSE = Pace(0.0, 1.0)
NOTHING = Pace(0.0, 0.0)
_KNOWN = frozenset({IDEOGRAPH, SYLLABLE, KANA, LETTER})
_OPEN_ENDED = frozenset({CAPITAL, DIGIT, SYMBOL})

# By the first word of the character's Unicode name.
_SCRIPTS = {
    "CJK": IDEOGRAPH,
    "IDEOGRAPHIC": IDEOGRAPH,
    "HIRAGANA": KANA,
    "KATAKANA": KANA,
    "KATAKANA-HIRAGANA": KANA,
    "HANGUL": SYLLABLE,
}
# By the first letter of its Unicode category, where the name does not decide.
_CATEGORIES = {"L": LETTER, "N": DIGIT, "S": SYMBOL, "P": PAUSE}


def shortest_plausible(text: str, speed: float = 1.0) -> float:
    """Seconds below which some of the text must be missing."""
    return max(SHORTEST_S, sum(_pace(character).shortest for character in text)) / speed


def longest_plausible(text: str, speed: float = 1.0) -> float:
    """Seconds beyond which the engine must have run away."""
    return SLACK_S / min(speed, 1.0) + sum(_pace(character).longest for character in text) / speed


def longest_silence(text: str, speed: float = 1.0) -> float:
    """Seconds of silence between two sounds of a sentence beyond which the engine must have lost its way.

    Marks that stand together may be paused at one after the other.
    """
    most = run = 0
    for character in text:
        run = run + 1 if _pace(character) is PAUSE else run * character.isspace()
        most = max(most, run)
    return (SILENCE_S + most * PAUSE.longest) / min(speed, 1.0)


@dataclass(frozen=True, slots=True)
class Extent:
    """What a text holds, as far as its sound goes. `letters` are those whose pace is known, in Latin ones: an ideograph
    counts 3.6. `open_ended` is how many other characters may be read in more ways than one, and `extra` the most
    seconds that these and the marks between words may take.
    """

    letters: float
    open_ended: int
    extra: float


def extent(text: str) -> Extent:
    paces = [_in_its_word(*pair) for pair in pairwise(text + " ")]
    open_ended = [pace.longest for pace in paces if pace in _OPEN_ENDED]
    return Extent(
        letters=sum(pace.usual for pace in paces if pace in _KNOWN) / LETTER.usual,
        open_ended=len(open_ended),
        extra=sum(open_ended) + MARK_S * sum(pace is PAUSE for pace in paces),
    )


def _in_its_word(character: str, following: str) -> Pace:
    """A capital that a small letter follows is not spelled."""
    pace = _pace(character)
    return LETTER if pace is CAPITAL and following.islower() else pace


def _pace(character: str) -> Pace:
    category = unicodedata.category(character)
    if category[0] == "L":
        script = unicodedata.name(character, "").partition(" ")[0]
        return _SCRIPTS.get(script, CAPITAL if category == "Lu" else LETTER)
    return _CATEGORIES.get(category[0], NOTHING)
