"""The voices of a CosyVoice model's file, as a card tells of them: for cosyvoice.py. Imports nothing heavy."""

from __future__ import annotations

import hashlib
from typing import Any

from synth.engines._cosyvoice_ways import FIRST, THIRD, is_saved_clone
from synth.types import Voice

NAME = "cosyvoice"
LANGUAGES = ("zh", "en", "ja", "yue", "ko")
# How the 300M models name their voices: the language, then 女 or 男.
_NATIVE = {"中文": "zh", "英文": "en", "日语": "ja", "粤语": "yue", "韩语": "ko"}
_GENDERS = {"女": "female", "男": "male"}


def languages_of(family: str) -> tuple[str, ...]:
    """The third model takes Japanese by way of Open JTalk, where that is installed."""
    if family != THIRD:
        return LANGUAGES
    try:
        import pyopenjtalk  # noqa: F401
    except ImportError:
        return tuple(language for language in LANGUAGES if language != "ja")
    return LANGUAGES


def voice_of(name: str, speaker: dict[str, Any], spoken: tuple[str, ...], *, family: str) -> Voice:
    """Its own language first. Chinese characters are read as Mandarin or as Cantonese, as the voice itself does."""
    native = next((language for start, language in _NATIVE.items() if name.startswith(start)), "zh")
    other = "zh" if native == "yue" else "yue"
    by_request = family != FIRST and is_saved_clone(speaker)
    languages = [language for language in spoken if language not in {native, other}]
    return Voice(
        name=name,
        engine=NAME,
        fingerprint=_fingerprint(speaker),
        languages=(native, *languages, *((other,) if by_request else ())),
        label=name,
        gender=next((gender for mark, gender in _GENDERS.items() if mark in name), ""),
    )


def default_voices(languages: tuple[str, ...], voices: tuple[Voice, ...]) -> dict[str, str]:
    """One that was recorded in the language, else the first that speaks it."""
    chosen: dict[str, str] = {}
    for language in languages:
        able = [voice for voice in voices if language in voice.languages]
        if able:
            chosen[language] = min(able, key=lambda voice: voice.languages.index(language)).name
    return chosen


def _fingerprint(speaker: dict[str, Any]) -> str:
    """Of the numbers, by name, that the voice is made of."""
    seen = hashlib.sha256()
    for name in sorted(speaker):
        numbers = speaker[name].cpu().numpy()
        seen.update(f"{name} {numbers.dtype} {numbers.shape}\n".encode())
        seen.update(numbers.tobytes())
    return "sha256:" + seen.hexdigest()[:16]
