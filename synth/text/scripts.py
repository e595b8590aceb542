"""Which scripts and which language a text is written in. Called for every request: what an engine cannot speak is
refused here, by name, before anything is queued."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import regex

MAX_REPORTED = 20

UNKNOWN = "Zzzz"
"""ISO 15924 for what has no script: private use, unassigned, damaged text (U+FFFD), and scripts not listed here."""

MATHEMATICAL = "Zmth"
"""ISO 15924 for letters and digits of formulas: they look like Latin, and engines drop them without a word."""

# In the order of how often they are met: the classifier tries them one after the other.
_LISTED = (
    "Hani Latn Hira Kana Hang Bopo Cyrl Grek Arab Hebr Thai Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr "
    "Khmr Laoo Tibt Geor Armn Ethi Mong Syrc Thaa Cher Cans Nkoo Yiii Tfng Olck Java Bali Sund Adlm Vaii"
)
KNOWN_SCRIPTS = tuple(_LISTED.split())

_SCRIPT = regex.compile("|".join(rf"(?P<{code}>\p{{sc={code}}})" for code in KNOWN_SCRIPTS))
_SHARED_BY = {code: regex.compile(rf"\p{{scx={code}}}") for code in KNOWN_SCRIPTS}
_COMMON = regex.compile(r"\p{sc=Zyyy}|\p{sc=Zinh}")
_READ_ALOUD = regex.compile(r"[\p{L}\p{N}]")
_DAMAGED = regex.compile(r"\ufffd|\p{sc=Zzzz}")
# Not the information sign: Unicode calls it a letter, but it is an emoji.
_FORMULA = regex.compile(r"(?V1)[\U0001d400-\U0001d7ff]|[[\p{Lu}\p{Ll}\p{Lo}]--[\u2139]]")
_MICRO_SIGN = "\u00b5"

_KANA = regex.compile(r"[\p{sc=Hira}\p{sc=Kana}]")
_HANGUL = regex.compile(r"\p{sc=Hang}")
_HAN = regex.compile(r"\p{sc=Hani}")
_CAPITALISED_WORD = regex.compile(r"(?V1)[\p{Latn}&&\p{Lu}](?<!\p{Latn}.)\p{Latn}++")
_LOWER_CASE_WORD = regex.compile(r"(?V1)[\p{Latn}&&\p{Ll}](?<!\p{Latn}.)\p{Latn}++")


def scripts_of(text: str) -> frozenset[str]:
    """The ISO 15924 codes of the scripts in `text`; digits, punctuation, symbols, emoji and marks give none."""
    written_in = map(_scripts_of_character, set(text))
    return frozenset(code for codes in written_in if len(codes) == 1 for code in codes)


def characters_outside(text: str, scripts: Collection[str]) -> tuple[str, ...]:
    """The distinct characters that an engine with `scripts` cannot speak, in order of appearance, at most 20.

    Letters, ideographs and digits of other scripts, formula letters, private-use and damaged characters count.
    Emoji, pictographs and other symbols do not: they have no reading of their own, people put them in any text,
    and an engine passes over them as over punctuation. They stay in the text and in the key. A text of nothing
    else is not speakable (`normalise.is_speakable`).
    """
    allowed = frozenset(scripts)
    outside: list[str] = []
    for character in dict.fromkeys(text):
        written_in = _scripts_of_character(character)
        if written_in and written_in.isdisjoint(allowed):
            outside.append(character)
            if len(outside) == MAX_REPORTED:
                break
    return tuple(outside)


def detect_language(text: str) -> str:
    """The language to take when the caller names none: "ja", "ko", "zh", or "en" for all else.

    - Latin words outnumber Chinese, Japanese or Korean characters by half or more: "en". Words in capitals count
      half, because names and products stand in every language ("请打开Visual Studio" is Chinese).
    - Else, Hangul that is at least as frequent as Han and as kana: "ko".
    - Else, kana that makes up a twentieth of kana and Han: "ja". Japanese is mostly Han at times; a Chinese text
      that quotes one Japanese word stays Chinese.
    - Else "zh".
    """
    if text.isascii():
        return "en"
    kana, hangul, han = (len(pattern.findall(text)) for pattern in (_KANA, _HANGUL, _HAN))
    words = len(_LOWER_CASE_WORD.findall(text)) + len(_CAPITALISED_WORD.findall(text)) / 2
    if words >= 1.5 * (kana + hangul + han):
        return "en"
    if hangul >= max(kana, han):
        return "ko"
    return "ja" if kana * 20 >= kana + han else "zh"


@lru_cache(maxsize=8192)
def _scripts_of_character(character: str) -> frozenset[str]:
    """One code for most, none for neutral ones, several for what scripts share: "ー" is Hira and Kana."""
    if _DAMAGED.match(character):
        return frozenset({UNKNOWN})
    if found := _SCRIPT.match(character):
        return frozenset({str(found.lastgroup)})
    if not _COMMON.match(character):
        return frozenset({UNKNOWN})
    return _scripts_of_common(character) if _READ_ALOUD.match(character) else frozenset()


def _scripts_of_common(character: str) -> frozenset[str]:
    if character == _MICRO_SIGN:
        return frozenset({"Grek"})
    if shared := frozenset(code for code, pattern in _SHARED_BY.items() if pattern.match(character)):
        return shared
    return frozenset({MATHEMATICAL}) if _FORMULA.match(character) else frozenset()
