"""English text to phonemes by hibari's phonemiser (no espeak). Used by the hibari and Kokoro engines."""

import re
import unicodedata
from typing import Any

from synth.engines._phonemes import punctuation
from synth.engines._scripts import Unspeakable, script_of

# Hibari's reader of unknown words sees 24 letters at most and forgets the rest.
_LONG_WORD = re.compile(r"[^\W\d_]{21,}")
_PIECE = 20
# It knows how to say no name of a number from 10 to the 30th on: such a number is read digit by digit.
_LONG_NUMBER = re.compile(r"\d(?:,?\d){30,}")
_HOST = re.compile(r"\b(?:[A-Za-z0-9-]{2,}\.)+(?:com|org|net|edu|gov|io|ai|dev|app|cn|jp|uk|html?)\b")
_FOLD = str.maketrans(
    {"Đ": "D", "đ": "d", "Ħ": "H", "ħ": "h", "Ł": "L", "ł": "l", "Œ": "Oe", "œ": "oe", "ı": "i", "Ŋ": "Ng", "ŋ": "ng"}
    | {"ſ": "s", "Ŧ": "T", "ŧ": "t", "Ə": "E", "ə": "e", "ª": "a", "º": "o"}
    | {"²": " squared", "³": " cubed", "™": "", "®": "", "©": "", "…": "...", "\u200b": ""}
)


class English:
    """Callable: one line of English in, phonemes out. Loads its lexicons when made."""

    def __init__(self) -> None:
        from hibari.g2p import G2P
        from hibari.g2p.normalize import normalize

        self._g2p = G2P()
        self._normalize = normalize

    def __call__(self, text: str) -> str:
        """Raises Unspeakable when a letter or digit would be left out."""
        line = self._normalize(_plain(text))
        tokens = self._g2p.phonemize_tokens(self._g2p.tokenize(line)) if line else []
        if any(_lost(token) for token in tokens):
            raise Unspeakable("a word has no English reading")
        return "".join((token.phonemes or "") + (" " if token.whitespace else "") for token in tokens)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFC", text).translate(_FOLD)
    text = "".join(_letter(char) for char in text)
    # Without square brackets there is no [text](/phonemes/), which hibari takes as markup.
    text = _HOST.sub(lambda match: match[0].replace(".", " dot "), punctuation(text))
    text = re.sub(r"\bwww\b", "W W W", text)
    text = _LONG_NUMBER.sub(lambda match: " ".join(match[0].replace(",", "")), text)
    return _LONG_WORD.sub(_in_pieces, text)


def _in_pieces(match: re.Match[str]) -> str:
    word = match[0]
    return " ".join(word[start : start + _PIECE] for start in range(0, len(word), _PIECE))


def _letter(char: str) -> str:
    if not char.isalpha() or ord(char) < 0x100:
        return char
    base = "".join(part for part in unicodedata.normalize("NFKD", char) if not unicodedata.combining(part))
    if script_of(char) == "Latn" and base.isascii():
        return base
    if script_of(char) == "Zyyy":
        return "'"
    raise Unspeakable("a letter has no English reading")


def _lost(token: Any) -> bool:
    return not token.phonemes and any(char.isalnum() for char in token.text)
