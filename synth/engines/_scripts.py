"""Which language reads which characters of a mixed text. Used by the engines' phonemisers; imports nothing heavy."""

import itertools
import re
import unicodedata

from synth.errors import Permanent

_SCRIPTS = {
    "CJK": "Hani",
    "IDEOGRAPHIC": "Hani",
    "HIRAGANA": "Hira",
    "KATAKANA": "Kana",
    "KATAKANA-HIRAGANA": "Kana",
    "LATIN": "Latn",
    "FEMININE": "Latn",
    "MASCULINE": "Latn",
    "MODIFIER": "Zyyy",  # okina and the like: no letter of its own
}
_FULL_WIDTH = re.compile(r"[０-９Ａ-Ｚａ-ｚ％＋＝＆＃＠＄￥￡／＜＞＊－．]+")
_HALF_WIDTH_KANA = re.compile(r"[ｦ-ﾟ]+")
_POWERS = "²³"  # read as words by each phonemiser
_NUMBER = re.compile(r"(?:[¥$€£]\s?|(?<![A-Za-z0-9])[-+−])?\d+(?:[.,:/~〜～–-]\d+)*\s?[%‰℃°]?")


class Unspeakable(Permanent):
    """The text, or a part of it, has no sound in this engine. Never holds the text itself."""

    code = "unspeakable_text"


def folded(text: str) -> str:
    """One form for characters that differ in width or shape only, so that each phonemiser sees what it knows."""
    text = unicodedata.normalize("NFC", text)
    for pattern in (_FULL_WIDTH, _HALF_WIDTH_KANA):
        text = pattern.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return "".join(_plain_number(char) for char in text)


def script_of(char: str) -> str:
    """ISO 15924 code of a letter, `Zyyy` for digits, punctuation and symbols, `Zzzz` for scripts without a voice."""
    if char == "〇":
        return "Hani"
    if not char.isalpha():
        return "Zyyy"
    return _SCRIPTS.get(unicodedata.name(char, "").split(" ", 1)[0], "Zzzz")


def language_runs(text: str, home: str) -> list[tuple[str, str]]:
    """Cut a folded text into (language, run) pairs whose runs join to the text; `home` is the segment's language.

    Raises Unspeakable for letters of a script that none of the phonemisers reads.
    """
    marks = _letters(text, home)
    for number in _NUMBER.finditer(text):
        language = _number_language(marks, number.span(), home)
        marks[number.start() : number.end()] = [language] * (number.end() - number.start())
    _fill(marks, home)
    groups = itertools.groupby(zip(marks, text, strict=True), key=lambda pair: pair[0])
    return [(language or home, "".join(char for _, char in pairs)) for language, pairs in groups]


def _plain_number(char: str) -> str:
    """Digits of any script, Roman numerals, circled numbers and fractions as plain digits."""
    if char.isascii() or char in _POWERS or char == "〇" or unicodedata.category(char) not in {"Nd", "No", "Nl"}:
        return char
    value = unicodedata.numeric(char)
    return str(int(value)) if value.is_integer() else unicodedata.normalize("NFKC", char).replace("⁄", "/")


def _letters(text: str, home: str) -> list[str | None]:
    scripts = [script_of(char) for char in text]
    if "Zzzz" in scripts:
        raise Unspeakable(f"{scripts.count('Zzzz')} letters of a script that this engine cannot read")
    kana = "Hira" in scripts or "Kana" in scripts
    han = "ja" if home == "ja" or (home == "en" and kana) else "zh"
    readers = {"Hani": han, "Hira": "ja", "Kana": "ja", "Latn": "en"}
    return [readers.get(script) for script in scripts]


def _number_language(marks: list[str | None], span: tuple[int, int], home: str) -> str:
    """Numbers are read in the segment's language, as people do, but for those inside another language's words."""
    start, end = span
    left = next((mark for mark in reversed(marks[:start]) if mark), None)
    right = next((mark for mark in marks[end:] if mark), None)
    if left == right == "en":
        return "en"
    if home == "en":
        glued = {*marks[end : end + 1], *marks[max(start - 1, 0) : start]} - {None, "en"}
        if glued:
            return glued.pop() or home
    if home in marks or (left or right) is None:
        return home
    return left or right or home


def _fill(marks: list[str | None], home: str) -> None:
    """Punctuation and spaces go with what stands before them; those at the start with what comes first."""
    previous = next((mark for mark in marks if mark), home)
    for index, mark in enumerate(marks):
        previous = mark or previous
        marks[index] = previous
