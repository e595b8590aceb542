"""One spelling for texts that are spoken alike: what keys are made of. Called for every request, so pure and fast.

Anything here that changes a result for any text must raise NORMALISER_VERSION, which is part of every key.
"""

from __future__ import annotations

import unicodedata

import regex

NORMALISER_VERSION = 1

# UAX #15 calls text with at most 30 marks in a row stream-safe; no orthography needs more. Beyond that,
# canonical ordering takes quadratic time: 100,000 marks on one letter would hold a process for a minute.
MAX_MARKS = 30

REPLACEMENT = "\ufffd"

_CONTROLS = regex.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+")
_SURROGATES = regex.compile(r"\p{Cs}")
# Joiners shape letters in cursive and Indic scripts (and there can tell words apart); Mongolian has selectors.
_MEANINGFUL = r"\u200c\u200d\u180b-\u180d\u180f"
_INVISIBLE = regex.compile(rf"(?V1)[\p{{Default_Ignorable_Code_Point}}--[{_MEANINGFUL}]]|[\ufff9-\ufffb]")
_JOINING_SCRIPTS = (
    "Arab Syrc Mand Nkoo Mong Phag Adlm Rohg Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr Tibt Thaa"
)
_JOINING_LETTER = "".join(rf"\p{{sc={code}}}" for code in _JOINING_SCRIPTS.split())
# Mongolian's selectors are of its script, yet no letters.
_JOINERS = regex.compile(
    rf"(?V1)(?=[{_MEANINGFUL}])(?<![[{_JOINING_LETTER}]--[{_MEANINGFUL}]])(?<![\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}](?=\u200d))[{_MEANINGFUL}]"
)
_EXCESS_MARKS = regex.compile(rf"\p{{M}}{{{MAX_MARKS}}}\K\p{{M}}+")
_SPEAKABLE = regex.compile(r"(?V1)[[\p{L}\p{N}]--\p{Lm}--\p{Default_Ignorable_Code_Point}]")


def normalise(text: str) -> str:
    """Return the one spelling of `text`. Idempotent; takes linear time.

    - Unicode NFC. Letter case, full and half width, and punctuation stay: they change the sound.
    - White space of any kind at the ends goes; a run of it inside becomes one space, or one "\\n" when it
      holds a line break, because a line break ends a sentence.
    - Controls, byte order marks, zero-width spaces, soft hyphens, direction marks, variation selectors, tags and
      all else that Unicode calls ignorable go: they change how a text looks, never how it is read.
    - Joiners stay after letters of scripts that spell with them, and between emoji.
    - A lone surrogate becomes U+FFFD, which no engine speaks, so that it is refused and not lost.
    - Marks beyond the thirtieth on one letter go.
    """
    text = _CONTROLS.sub("", text)
    if not text.isascii():
        text = _one_spelling(text)
    return "\n".join(words for line in text.splitlines() if (words := " ".join(line.split())))


def is_speakable(text: str) -> bool:
    """Whether `text` holds a letter, an ideograph or a digit: blanks, punctuation, symbols and emoji alone do not."""
    return _SPEAKABLE.search(text) is not None


def _one_spelling(text: str) -> str:
    text = _SURROGATES.sub(REPLACEMENT, text)
    text = _JOINERS.sub("", _INVISIBLE.sub("", text))
    # Composing can lengthen a run of marks (U+0F73 is two), so the bound is applied on both sides of it.
    text = unicodedata.normalize("NFC", _EXCESS_MARKS.sub("", text))
    return _EXCESS_MARKS.sub("", text)
