"""How long a text is to an engine: the measure of its limits. Used by the splitter."""

from __future__ import annotations

import regex

from synth.text.tokens import CJK

CJK_UNITS = 4
"""A Chinese, Japanese or Korean character is a syllable or two: as long to say as about four Latin letters."""

_CJK = regex.compile(f"[{CJK}]+")


def units(text: str) -> int:
    """The length of `text`: a CJK character counts CJK_UNITS, any other one 1, white space around it nothing."""
    text = text.strip()
    others = len(text) if text.isascii() else len(_CJK.sub("", text))
    return others + CJK_UNITS * (len(text) - others)
