"""A tenant's lexicon: how it wants words to be said, put into a request before it becomes a key. Pure; spec.py asks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex

from synth.text.scripts import characters_outside
from synth.types import EngineCard, Pronunciation

ALIAS = "alias"


@dataclass(frozen=True, slots=True)
class Word:
    """How to say a text: `kind` is pinyin, ipa or alias; `language` is the one that it is for, "" for any."""

    text: str
    kind: str
    value: str
    language: str = ""


def said_as(
    text: str, pronunciations: Sequence[Pronunciation], words: Iterable[Word], *, language: str, card: EngineCard
) -> tuple[str, tuple[Pronunciation, ...]]:
    """The text and its pronunciations, with those words of the lexicon that are in it, the longest first.

    What the request itself says of a word stands. An engine that takes the word's kind is told of it; for any other one
    an alias takes the word's place in the text, and what it could not read is left out.
    """
    told, said = list(pronunciations), {item.text for item in pronunciations}
    for word in sorted(words, key=lambda word: (-len(word.text), word.text, word.language == "")):
        if word.text not in text or word.text in said or word.language not in {"", language}:
            continue
        found = _whole(word.text)
        if not found.search(text):
            continue
        said.add(word.text)
        if _takes(card, word):
            told.append(Pronunciation(word.text, word.kind, word.value))
        elif word.kind == ALIAS and not characters_outside(word.value, card.scripts):
            text = found.sub(word.value.replace("\\", r"\\"), text)
    return text, tuple(told)


def _takes(card: EngineCard, word: Word) -> bool:
    if "pronunciations" not in card.controls:
        return False
    if card.pronunciation_kinds and word.kind not in card.pronunciation_kinds:
        return False
    known = not card.syllables or set(word.value.split()) <= set(card.syllables)
    return word.kind != "pinyin" or known


def _whole(text: str) -> regex.Pattern[str]:
    """The text where no letter of the same word goes on: "cat" is not in "category", but 重 is in 重要."""
    start = r"(?<![\p{Latin}\p{Cyrillic}\p{Greek}\d])" if _alphabetic(text[0]) else ""
    end = r"(?![\p{Latin}\p{Cyrillic}\p{Greek}\d])" if _alphabetic(text[-1]) else ""
    return regex.compile(start + regex.escape(text, literal_spaces=True) + end)


def _alphabetic(character: str) -> bool:
    return regex.match(r"[\p{Latin}\p{Cyrillic}\p{Greek}\d]", character) is not None
