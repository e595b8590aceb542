"""Cut a sentence that is longer than an engine's limit at its best pauses. Called by the sentence splitter only."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from math import ceil

import regex

from synth.text.normalise import is_speakable
from synth.text.tokens import MARK, OPENING, URL, literal_class
from synth.text.units import CJK_UNITS, units

ANYWHERE, BETWEEN_WORDS, AT_SPACE, AT_COMMA, AT_SEMICOLON = range(5)
"""How good a place is for a cut, the last best. ANYWHERE is inside a word, for words beyond the limit."""

SHORTEST, SHORTEST_REST = 0.5, 0.25
"""A piece, and what a cut leaves over, in proportion to pieces of equal length: no tiny heads or tails."""

_IDEOGRAPH = r"[[\p{sc=Hani}\p{sc=Hira}\p{sc=Bopo}]--\p{Lm}]"
_LETTER = r"[[\p{L}\p{N}]--[\p{Lm}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Bopo}]]"
_WORD = (
    rf"{_IDEOGRAPH}[\p{{M}}\p{{Lm}}ぁぃぅぇぉっゃゅょゎゕゖ]*+"
    rf"|{MARK}|{URL}"
    r"|\d++(?:[.,:/．，：-](?=\d)\d++)*+(?:\p{Latn}++|\p{sc=Hani})?"  # 1,000.50, 10:30, 5kg, 2024年
    r"|[\p{sc=Kana}--\p{Lm}][\p{sc=Kana}ー\p{M}]*+"
    rf"|{_LETTER}[{_LETTER}\p{{M}}\p{{Lm}}]*+(?:['’._&@+-](?={_LETTER})[{_LETTER}\p{{M}}\p{{Lm}}]++)*+"
)
_SIGN = r"[\p{Sc}#@+−-](?=[\p{L}\p{N}])"
_OPENING = rf"{literal_class(OPENING)}\"'<"
_OPENERS = rf"(?:(?=[{_OPENING}])(?!{MARK})[{_OPENING}]\s*+|{_SIGN})"
_CLOSERS = rf"(?:(?=[^\p{{L}}\p{{N}}{_OPENING}])(?!{MARK}|{_SIGN}).|\p{{Lm}}|(?<!\s)[\"'])"
_ATOM = regex.compile(rf"(?V1s){_OPENERS}*+(?:(?P<word>{_WORD})(?P<after>{_CLOSERS}*+))|{_OPENERS}++|{_CLOSERS}++|.")
_MARK = regex.compile(MARK)
_GRAPHEME = regex.compile(r"\X")
_SEMICOLON = regex.compile(r"[；;。｡！？!?]")
_COMMA = regex.compile(r"[，,、：:—–…]|\.\.|\s[-~]\s")
_SPACE = regex.compile(r"\s")


def speakable_spans(text: str, ends: Iterable[int]) -> list[tuple[int, int]]:
    """The stretches of `text` up to each of `ends`; one without a word is joined to the one before, or the next.

    `text` as a whole must be speakable.
    """
    spans: list[tuple[int, int]] = []
    start = begin = 0
    for end in (*ends, len(text)):
        if end > begin and is_speakable(text[begin:end]):
            spans.append((start, end))
            start = end
        elif end > begin and spans:
            spans[-1] = (spans[-1][0], end)
            start = end
        begin = max(begin, end)
    return spans


def cut_long(sentence: str, *, inner_ends: Iterable[int], max_units: int) -> Iterator[str]:
    """Cut at every sentence end inside quotes and brackets; then, where still too long, at the best pauses.

    At every inner end, not only where needed: the sentences of a long quotation are then as independent of
    each other as any.
    """
    for start, end in speakable_spans(sentence, inner_ends):
        part = sentence[start:end]
        if units(part) <= max_units:
            yield part
        else:
            yield from _Cutter(part, max_units).pieces()


class _Cutter:
    """The places where a text may be cut: after each of its atoms, every one of them speakable."""

    def __init__(self, text: str, max_units: int) -> None:
        self._text = text
        self._max_units = max_units
        self._bounds: list[int] = []
        self._ranks: list[int] = []
        for end, rank in _places(text, max_units):
            self._bounds.append(end)
            self._ranks.append(rank)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._measure()

    def pieces(self) -> Iterator[str]:
        first, begin = 0, 0
        while first < len(self._bounds):
            last = self._last_of_piece(first)
            end = self._bounds[last]
            yield self._text[begin:end]
            first, begin = last + 1, end

    def _measure(self) -> None:
        """Units from the beginning of the text to each atom's start, and to its end without the space after it."""
        begin = total = 0
        for end in self._bounds:
            atom = self._text[begin:end]
            self._starts.append(total)
            length = units(atom)
            self._ends.append(total + length)
            total += length + len(atom) - len(atom.rstrip())
            begin = end

    def _last_of_piece(self, first: int) -> int:
        start, final = self._starts[first], len(self._bounds) - 1
        rest = self._ends[final] - start
        if rest <= self._max_units:
            return final
        ideal = rest / ceil(rest / self._max_units)
        furthest = max(first, bisect_right(self._ends, start + self._max_units) - 1)
        low = max(first, bisect_left(self._ends, start + SHORTEST * ideal))
        high = min(furthest, bisect_right(self._ends, start + rest - SHORTEST_REST * ideal) - 1)
        if low <= high:
            return max(range(low, high + 1), key=lambda i: (self._ranks[i], -abs(self._ends[i] - start - ideal)))
        return max(range(first, furthest + 1), key=lambda i: (self._ranks[i] > ANYWHERE, i))


def _places(text: str, max_units: int) -> Iterator[tuple[int, int]]:
    """Where `text` may be cut, and how well. What has no word of its own hangs on the atom before it, or the first."""
    begin = 0
    atoms = [atom for atom in _ATOM.finditer(text) if atom["word"] and is_speakable(atom["word"])]
    for atom, following in zip(atoms, [*atoms[1:], None], strict=True):
        end = following.start() if following else len(text)
        if (
            (end - begin) * CJK_UNITS > max_units
            and units(text[begin:end]) > max_units
            and not _MARK.fullmatch(atom["word"])
        ):
            yield from ((place, ANYWHERE) for place in _inside(text, begin, end))
        yield end, _rank(text[atom.start("after") : end])
        begin = end


def _inside(text: str, begin: int, end: int) -> Iterator[int]:
    """Between the characters (grapheme clusters) of a word that is beyond the limit."""
    speakable = False
    for grapheme in _GRAPHEME.finditer(text, begin, end):
        if is_speakable(grapheme.group()):
            if speakable:
                yield grapheme.start()
            speakable = True


def _rank(after: str) -> int:
    if not after:
        return BETWEEN_WORDS
    if _SEMICOLON.search(after):
        return AT_SEMICOLON
    if _COMMA.search(after):
        return AT_COMMA
    return AT_SPACE if _SPACE.search(after) else BETWEEN_WORDS
