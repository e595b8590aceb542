"""One spelling for pinyin syllables, so that `chóng`, `chong2` and `CHONG2` are one key. Called by spec.py."""

import unicodedata

import regex

_TONE_MARKS = {"\u0304": "1", "\u0301": "2", "\u030c": "3", "\u0300": "4"}
_DIAERESIS = "\u0308"
_SYLLABLE = regex.compile(r"(?:[a-z]+|[a-z]*v[a-z]*)[1-5]")


def canonical_pinyin(text: str) -> str | None:
    """Syllables in lower case with their tone as a figure, parted by one space; `v` stands for `ü`.

    A syllable without a tone has the neutral one, 5 (also written 0). None when this is not pinyin.
    """
    syllables = [_canonical_syllable(part) for part in text.lower().replace("'", " ").split()]
    return " ".join(syllables) if syllables and all(map(_SYLLABLE.fullmatch, syllables)) else None


def _canonical_syllable(text: str) -> str:
    letters, tone = "", ""
    for character in unicodedata.normalize("NFD", text.replace("u:", "v")):
        if character in _TONE_MARKS:
            tone = _TONE_MARKS[character]
        elif character == _DIAERESIS and letters.endswith("u"):
            letters = letters[:-1] + "v"
        else:
            letters += character
    if letters[-1:].isdigit():
        letters, tone = letters[:-1], tone or letters[-1]
    return letters + (tone if tone not in {"", "0"} else "5")
