"""Cut a text into complete sentences, the units of synthesis and of reuse. Called on a cache miss.

Own code, for want of a library that is right: sentencex 1.0.32 cuts "U.S.A.很远" after "U.", needs quadratic time for
Chinese, and lets a 5" screen swallow the next sentence; pysbd 0.3.4 cuts before ”, in URLs, and inside /ˈhɛ.loʊ/.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import regex

from synth.text.long import cut_long, speakable_spans
from synth.text.nesting import Group, nesting_of
from synth.text.normalise import is_speakable
from synth.text.stops import is_end, stop_at
from synth.text.tokens import CLOSING, EMOTICON, ENDERS, MARK, OPENING, STRAIGHT, URL, literal_class
from synth.text.units import CJK_UNITS, units

__all__ = ["CJK_UNITS", "SPLITTER_VERSION", "split", "units"]

SPLITTER_VERSION = 1
"""Part of every key: raise it whenever any text is cut differently."""

_TOKEN = regex.compile(
    rf"(?P<whole>{MARK}|{URL}|{EMOTICON})"
    r"|(?P<line>[\n\r\v\f\x85\u2028\u2029]\s*+)"
    rf"|(?P<stop>[{literal_class(ENDERS)}]++)"
    rf"|(?P<delimiter>[{literal_class(OPENING + CLOSING + STRAIGHT)}])"
)

_NOT_BLANK = regex.compile(r"\S")


def split(text: str, *, language: str, max_units: int) -> list[str]:
    """Cut `text` into sentences; joined, they give `text` back. `language` chooses the abbreviations.

    - A piece keeps the white space after it: a segment's text is `piece.strip()`. It does not depend on its
      neighbours, so that editing one sentence of a script leaves the others' keys alone.
    - Every piece is speakable: punctuation and emoji without words go to the piece before them.
    - No piece is longer than `max_units` (see `units`) unless it is one inline mark, or one character with all
      the punctuation that hangs on it. A sentence that is longer is cut at the ends of sentences quoted in it,
      and what is still too long at its pauses.

    A text that is not speakable comes back whole; callers refuse it before.
    """
    if max_units < 1:
        raise ValueError("max_units must be at least 1")
    if not is_speakable(text):
        return [text] if text else []
    ends = _Ends(text, language)
    pieces: list[str] = []
    for start, end in speakable_spans(text, ends.outer):
        sentence = text[start:end]
        if units(sentence) <= max_units:
            pieces.append(sentence)
        else:
            pieces += cut_long(sentence, inner_ends=ends.inside(start, end), max_units=max_units)
    return pieces


class _Ends:
    """Where sentences end: outside of quotes and brackets, and inside of them."""

    def __init__(self, text: str, language: str) -> None:
        self.outer: list[int] = []
        self.inner: list[int] = []
        self._text = text
        self._language = language
        tokens = list(_TOKEN.finditer(text))
        nesting = nesting_of(text, (token for token in tokens if token.lastgroup in {"line", "delimiter"}))
        self._straight_ends = nesting.straight_ends
        self._find(tokens, nesting.groups)

    def inside(self, start: int, end: int) -> list[int]:
        """The inner ends between two positions, counted from the first of them."""
        found = self.inner[bisect_right(self.inner, start) : bisect_left(self.inner, end)]
        return [position - start for position in found]

    def _find(self, tokens: list[regex.Match[str]], groups: tuple[Group, ...]) -> None:
        position = 0
        for token in tokens:
            if token.lastgroup == "line":
                self._note(self.outer, token.end())
            elif token.lastgroup == "stop":
                while position < len(groups) and groups[position].end < token.start():
                    position += 1
                self._consider(token, groups[position] if position < len(groups) else None)

    def _consider(self, token: regex.Match[str], group: Group | None) -> None:
        stop = stop_at(self._text, token.span(), straight_ends=self._straight_ends)
        sentence = self.outer[-1] if self.outer else 0
        if group is None or group.start > stop.start:
            inside = False
        elif stop.tail <= group.end:
            inside = True
            sentence = max(group.start + 1, self.inner[-1] if self.inner else 0)
        elif not group.quote and _NOT_BLANK.search(self._text, sentence, group.start):
            return  # "I left (why?) and" goes on
        else:
            inside = False
        if stop.next > sentence and is_end(self._text, stop, sentence=sentence, language=self._language):
            self._note(self.inner if inside else self.outer, stop.next)

    def _note(self, ends: list[int], position: int) -> None:
        if not ends or position > ends[-1]:
            ends.append(position)
