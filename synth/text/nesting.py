"""Find the quotes and brackets of a text, so that the sentence splitter leaves them whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import regex

from synth.text.tokens import BRACKETS, PERIODS, QUOTES, STRAIGHT

_CLOSER_OF = QUOTES | BRACKETS
_QUOTING = frozenset([*QUOTES, *STRAIGHT])


@dataclass(frozen=True, slots=True)
class Group:
    """A quotation or a bracket: the positions of its opening and closing character."""

    start: int
    end: int
    quote: bool


@dataclass(frozen=True, slots=True)
class Nesting:
    """The groups that are in no other group, in order; and where straight quotation marks close one."""

    groups: tuple[Group, ...]
    straight_ends: frozenset[int]


def nesting_of(text: str, delimiters: Iterable[regex.Match[str]]) -> Nesting:
    """Pair the delimiters of `text`. A line break closes nothing and ends all; what has no partner is ignored."""
    pairs = _Pairs(text)
    for delimiter in delimiters:
        if delimiter.lastgroup == "line":
            pairs.forget_open()
        else:
            pairs.meet(delimiter.start())
    return Nesting(tuple(pairs.groups), frozenset(pairs.straight_ends))


class _Pairs:
    """A stack of open delimiters. Every delimiter is pushed and popped at most once: linear time."""

    def __init__(self, text: str) -> None:
        self.groups: list[Group] = []
        self.straight_ends: list[int] = []
        self._text = text
        self._open: list[tuple[str, int]] = []
        self._awaited: Counter[str] = Counter()

    def forget_open(self) -> None:
        self._open.clear()
        self._awaited.clear()

    def meet(self, position: int) -> None:
        character = self._text[position]
        if self._awaited[character] and self._can_close(position):
            self._close(character, position)
        elif character in _CLOSER_OF:
            self._push(_CLOSER_OF[character], position)
        elif character in STRAIGHT and self._can_open(position):
            self._push(character, position)

    def _push(self, closer: str, position: int) -> None:
        self._open.append((closer, position))
        self._awaited[closer] += 1

    def _close(self, closer: str, position: int) -> None:
        kind = ""
        while kind != closer:
            kind, start = self._open.pop()
            self._awaited[kind] -= 1
        while self.groups and self.groups[-1].start > start:
            self.groups.pop()
        self.groups.append(Group(start, position, self._text[start] in _QUOTING))
        if closer in STRAIGHT:
            self.straight_ends.append(position)

    def _can_close(self, position: int) -> bool:
        before, after = self._around(position)
        if self._text[position] == "'":
            return before in f",!?…{PERIODS}" and not after.isalnum()
        if self._text[position] == "’":
            return not (before.isalpha() and after.isascii() and after.isalpha())
        return self._text[position] != '"' or not before.isspace()

    def _can_open(self, position: int) -> bool:
        """After a letter or digit of the Latin kind a straight mark is an apostrophe or an inch."""
        before, after = self._around(position)
        return not (before.isascii() and before.isalnum()) and bool(after) and not after.isspace()

    def _around(self, position: int) -> tuple[str, str]:
        return self._text[position - 1 : position] if position else " ", self._text[position + 1 : position + 2]
