"""What CosyVoice may be asked and how its models want it worded: for cosyvoice.py. Imports nothing heavy."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from synth.engines._scripts import Unspeakable, folded, script_of
from synth.errors import Permanent
from synth.types import EngineCard, Manner

SCRIPTS = ("Hani", "Hira", "Kana", "Hang", "Latn")
END_OF_PROMPT = "<|endofprompt|>"
# The third model has to see the end of a prompt, and was trained with this one in front of each.
ASSISTANT = "You are a helpful assistant."
# What the second and third model are told for Cantonese, which no tag of theirs asks for.
CANTONESE = {"CosyVoice2": "用粤语说这句话", "CosyVoice3": "请用广东话表达。"}
_INSTRUCTION = "instruction"
_CONTROL = re.compile(r"<\||\|>")
_KANA = re.compile(r"[ぁ-ヺー]")


def refuse_unspeakable(text: str) -> None:
    """Raises Unspeakable for text without a sound, with letters that no model of CosyVoice knows or with its controls.

    `<|…|>` in a text is a control token to it: a caller could end the prompt or change the language.
    """
    if _CONTROL.search(text):
        raise Unspeakable("<| and |> mark CosyVoice's control tokens, which a text may not hold")
    plain = folded(text)
    foreign = sum(_script(char) not in {*SCRIPTS, "Zyyy"} for char in plain)
    if foreign:
        raise Unspeakable(f"{foreign} letters of a script that CosyVoice does not read")
    if not any(char.isalnum() for char in plain):
        raise Unspeakable("a text without a letter or a digit has no sound")


def instruction_of(manner: Manner) -> str:
    """The style instruction, "" where there is none. Raises Permanent for options that there are none of."""
    options = dict(manner.options)
    text = options.pop(_INSTRUCTION, "").strip()
    if options:
        raise Permanent(f"CosyVoice has no option {', '.join(sorted(options))}", code="unsupported_control")
    if _CONTROL.search(text):
        raise Permanent("<| and |> may not stand in an instruction", code="unsupported_control")
    return text


def language_of(manner: Manner, card: EngineCard) -> str:
    """The segment's language as the card names it. Raises Permanent for what the card does not offer."""
    language = manner.language.split("-", 1)[0].lower()
    if language not in card.languages:
        raise Permanent(f"{card.name} does not speak {manner.language}", code="unsupported_language")
    speed = card.speed
    if speed and not speed.minimum <= manner.speed <= speed.maximum:
        raise Permanent(f"{card.name} speaks at {speed.minimum} to {speed.maximum}", code="unsupported_speed")
    asked: dict[str, Any] = {
        "duration": manner.duration,
        "emotion": manner.emotion,
        "pronunciations": manner.pronunciations,
        "seed": manner.seed is not None,
        "instruction": instruction_of(manner),
    }
    lacking = sorted(name for name, value in asked.items() if value and name not in card.controls)
    if lacking:
        raise Permanent(f"{card.name} has no control of {', '.join(lacking)}", code="unsupported_control")
    return language


def katakana(text: str) -> str:
    """Japanese as it is pronounced, word by word: the third model reads no other Japanese.

    Raises Unspeakable for a word that Open JTalk cannot read, which it would leave out.
    """
    import pyopenjtalk

    from synth.engines._japanese import spoken

    words = pyopenjtalk.run_frontend(spoken(text), use_sudachi_kanji_yomi=False)
    return " ".join(_reading(word["string"], word["pron"]) for word in words)


def _reading(surface: str, pronounced: str) -> str:
    plain = pronounced.replace("’", "").replace("'", "")
    if _KANA.search(plain):
        return plain
    if any(char.isalnum() for char in surface) and not _KANA.search(surface):
        raise Unspeakable("a word has no Japanese reading")
    return surface


def _script(char: str) -> str:
    """As `script_of`, which knows no Hangul: the default engines have no voice for it."""
    hangul = char.isalpha() and unicodedata.name(char, "").startswith("HANGUL ")
    return "Hang" if hangul else script_of(char)
