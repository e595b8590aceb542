"""Decide whether a full stop, question mark, exclamation mark or ellipsis ends a sentence. For the splitter only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import regex

from synth.text.abbreviations import BEFORE_NUMBER, FOREIGN, NEVER_LAST, OPENING_WORDS, SOMETIMES_LAST
from synth.text.tokens import CJK, CLOSING, EMOJI, ENDERS, QUOTES, STRAIGHT

_PAUSES = ",，、;；:："
_DASHES = "—–―─"
_QUOTE_ENDS = frozenset([*QUOTES.values(), *STRAIGHT])
_DECISIVE = regex.compile(r"[。｡!?！？‼⁇⁈⁉؟۔।॥]")

_SPACE = regex.compile(r"\s*+")
_LINE_BREAK = regex.compile(r"[\n\r\v\f\x85\u2028\u2029]")
_EMOJI = regex.compile(rf" ?[{EMOJI}]++")
_CJK = regex.compile(f"[{CJK}]")
# With what addresses are made of: the "d" of "c?d." is no initial.
_WORD_BEFORE = regex.compile(r"[\p{Latn}\p{M}\p{N}.'’/?=&_@:#%+~-]*+$")
_OPENING_WORD = regex.compile(r"[\"'“‘(]?(\p{Lu}\p{Latn}*+)(?![.\p{L}\p{N}])")
_LIST_NUMBER = regex.compile(r"[(（]?(?:\d{1,3}|\p{Latn}|[ivxIVX]{1,5})[)）]?")
_DOTTED = regex.compile(r"(?:\p{Latn}\.)*\p{Latn}")  # U.S, a.m, J
_LOWER_CASE = regex.compile(r"[\"'“‘(]?\p{Ll}")

_GOES_ON = regex.compile(
    r"と(?!ても|にかく|ころ|りあえず|もあれ|っても|きどき|なり)"  # 「行こう。」と言った
    r"|って(?!いう)|なん?て(?!こ)|など|を"
    r"|\s?(?:이?라[고는며면]|하[고며는])"  # "안녕." 이라고 말했다
    r"|的(?![确士])"  # “加油！”的口号
)
_ASKED_ON = regex.compile(r"と[言思聞いおき]|って[言思聞いお]|という")  # え？と言った


@dataclass(frozen=True, slots=True)
class Stop:
    """A run of stop characters from `start` to `end`, what hangs on it up to `tail`, and where the text goes on."""

    start: int
    end: int
    tail: int
    next: int
    closed: bool
    quoted: bool


def stop_at(text: str, span: tuple[int, int], *, straight_ends: Collection[int]) -> Stop:
    """Closing quotes, closing brackets and emoji belong to the sentence that ends before them."""
    start, end = span
    tail, closed, quoted = end, False, False
    while tail < len(text):
        if _closes(text, tail, straight_ends):
            closed, quoted = True, quoted or text[tail] in _QUOTE_ENDS
            tail += 1
        elif emoji := _EMOJI.match(text, tail):
            tail = emoji.end()
        else:
            break
    space = _SPACE.match(text, tail)
    return Stop(start, end, tail, space.end() if space else tail, closed, quoted)


def is_end(text: str, stop: Stop, *, sentence: int, language: str) -> bool:
    """Whether the sentence that began at `sentence` ends with `stop`."""
    spaced = stop.next > stop.tail
    if stop.next == len(text) or (spaced and _LINE_BREAK.search(text, stop.tail, stop.next)):
        return True
    if _goes_on(text, stop, spaced=spaced):
        return False
    run = text[stop.start : stop.end]
    if _DECISIVE.search(run):
        return spaced or _decides_unspaced(text, run, stop)
    if len(run) > 1 or run == "…":
        return spaced and not _LOWER_CASE.match(text, stop.next)
    return _period_ends(text, stop, sentence=sentence, language=language)


def _closes(text: str, position: int, straight_ends: Collection[int]) -> bool:
    character = text[position]
    if character in STRAIGHT:
        return position in straight_ends or text[position + 1 : position + 2].strip() == ""
    return character in CLOSING


def _goes_on(text: str, stop: Stop, *, spaced: bool) -> bool:
    """A pause, another stop, a quotative or, after a closing quote or bracket, a small letter: `"Stop!" he said.`"""
    following = text[stop.next]
    if following in _PAUSES or following in ENDERS or (following in _DASHES and not spaced):
        return True
    if stop.closed and _LOWER_CASE.match(text, stop.next):
        return True
    quotative = _GOES_ON if stop.quoted else _ASKED_ON
    return quotative.match(text, stop.next) is not None


def _decides_unspaced(text: str, run: str, stop: Stop) -> bool:
    """ "OK!Next" are two sentences; "a?b", "x!=y" and "page?id=1" are none."""
    following = text[stop.next]
    if stop.tail > stop.end or not run.isascii() or not following.isascii():
        return True
    return following.isupper() and text[stop.start - 1 : stop.start].isalpha()


def _period_ends(text: str, stop: Stop, *, sentence: int, language: str) -> bool:
    spaced = stop.next > stop.tail
    cjk_follows = _CJK.match(text, stop.next) is not None
    if not (spaced or cjk_follows or stop.tail > stop.end):
        return False  # 3.14, README.md, example.com
    word = _word_before(text, stop.start, sentence)
    if stop.start - sentence <= 8 and _LIST_NUMBER.fullmatch(text[sentence : stop.start].strip()):
        return False  # "1. First" is one sentence
    return not _is_abbreviation(word, text, stop, language) or (spaced and cjk_follows)


def _word_before(text: str, position: int, sentence: int) -> str:
    found = _WORD_BEFORE.search(text[max(sentence, position - 24) : position])
    return found.group().strip("-'’.") if found else ""


def _is_abbreviation(word: str, text: str, stop: Stop, language: str) -> bool:
    plain = word.lower()
    if plain in NEVER_LAST or plain in FOREIGN.get(language.partition("-")[0].lower(), ()):
        return True
    if plain in BEFORE_NUMBER and text[stop.next].isdigit():
        return True
    if plain not in SOMETIMES_LAST and not _DOTTED.fullmatch(word):
        return False
    opening = _OPENING_WORD.match(text, stop.next)
    return opening is None or opening.group(1) not in OPENING_WORDS
