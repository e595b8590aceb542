"""The text that IndexTTS is given: with pronunciations in each version's own spelling, and without what it would take
for commands. Used by indextts.py; imports nothing heavy.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from synth.engines._scripts import Unspeakable, script_of
from synth.errors import EngineUnavailable, Permanent
from synth.types import Pronunciation

# `<|zh|>` is a control token of 2.5, `<行|XING2>` its mark of a pronunciation, the others stand for what the
# normaliser has set aside: from a tenant all of them would be commands.
_COMMAND = re.compile(r"<\||\|>|<[^|>\n]+\|[^>\n]+>|<H>|<n_.>|<pinyin_.>|PRONPLACEHOLDER", re.IGNORECASE)
_SYLLABLE = re.compile(r"[A-Z]+[1-5]")
# After these, u is ü: upstream's vocabulary writes it v, as in JV2.
_U_IS_V = re.compile(r"(?<=^[JQX])U")
Replacement = Callable[[re.Match[str], Pronunciation], str]
_WORD = re.compile(r"[A-Za-z0-9]")


def check_text(text: str, scripts: Iterable[str]) -> None:
    """Raises Unspeakable for text without a sound, for letters of other scripts, and for upstream's own commands.

    Full-width forms count as what they look like, since upstream's normaliser makes them so.
    """
    if _COMMAND.search(unicodedata.normalize("NFKC", text)):
        raise Unspeakable("the text holds a mark that the engine takes for a command")
    if not any(char.isalnum() for char in text):
        raise Unspeakable("nothing in the text has a sound")
    known = {*scripts, "Zyyy"}
    foreign = sum(_script(char) not in known for char in text)
    if foreign:
        raise Unspeakable(f"{foreign} letters of a script that this engine cannot read")


def spelt(syllable: str) -> str:
    """A canonical syllable as upstream's vocabulary has it: `xing2` is XING2, `ju2` and `jv2` are JV2."""
    return _U_IS_V.sub("V", syllable.upper())


def inline(text: str, pronunciations: tuple[Pronunciation, ...]) -> str:
    """IndexTTS 2: the syllables stand in the place of the text."""

    def replacement(found: re.Match[str], said: Pronunciation) -> str:
        value = said.value if said.kind == "alias" else " ".join(map(spelt, said.value.split()))
        before, after = text[: found.start()][-1:], text[found.end() :][:1]
        # Glued to a letter or a figure, upstream would not see that it is pinyin.
        return " " * bool(_WORD.match(before)) + value + " " * bool(_WORD.match(after))

    return _replaced(text, pronunciations, replacement)


def marked(text: str, pronunciations: tuple[Pronunciation, ...]) -> str:
    """IndexTTS 2.5: the text stays, in a mark with its syllables."""

    def replacement(found: re.Match[str], said: Pronunciation) -> str:
        if said.kind == "alias":
            return said.value
        return f"<{found[0]}|{' '.join(map(spelt, said.value.split()))}>"

    return _replaced(text, pronunciations, replacement)


def check_pinyin(pronunciations: Iterable[Pronunciation], vocabulary: frozenset[str], language: str) -> None:
    """Raises Permanent for a syllable that is not in the vocabulary, by its name: it is no text of the tenant's."""
    for said in pronunciations:
        if said.kind not in {"pinyin", "alias"}:
            raise Permanent(f"indextts takes pinyin or an alias, not {said.kind}", code="unsupported_control")
        if said.kind == "alias":
            continue
        if language != "zh":
            raise Permanent("indextts takes pinyin in Chinese only", code="unsupported_control")
        for syllable in said.value.split():
            if spelt(syllable) not in vocabulary:
                raise Permanent(f"indextts cannot say the syllable {syllable}", code="unknown_syllable")


def syllables_in(text: str, pronunciations: Iterable[Pronunciation]) -> frozenset[str]:
    """Those, in upstream's spelling, whose text stands in a text and in no longer one's place."""
    found: list[str] = []

    def replacement(_: re.Match[str], said: Pronunciation) -> str:
        found.extend(map(spelt, said.value.split()) if said.kind == "pinyin" else ())
        return ""

    _replaced(text, tuple(pronunciations), replacement)
    return frozenset(found)


def read_vocabulary(files: Iterable[Path]) -> frozenset[str]:
    """The syllables of the first `pinyin.vocab` that is there, in upstream's spelling."""
    for file in files:
        if file.is_file():
            lines = file.read_text(encoding="utf-8").split()
            return frozenset(line for line in lines if _SYLLABLE.fullmatch(line))
    raise EngineUnavailable("indextts needs pinyin.vocab, in the model directory or in the checkout's checkpoints/")


def canonical_syllables(vocabulary: frozenset[str]) -> tuple[str, ...]:
    """The vocabulary as requests spell it: in lower case, and `jv2` also as `ju2`."""
    plain = {syllable.lower() for syllable in vocabulary}
    return tuple(sorted(plain | {re.sub("^([jqx])v", r"\1u", syllable) for syllable in plain}))


def _replaced(text: str, pronunciations: tuple[Pronunciation, ...], replacement: Replacement) -> str:
    """In one pass, the longest text first, so that nothing that was put in is replaced again."""
    by_text = {said.text: said for said in reversed(pronunciations)}  # of two for one text the first one counts
    if not by_text:
        return text
    pattern = "|".join(re.escape(item) for item in sorted(by_text, key=len, reverse=True))
    return re.sub(pattern, lambda found: replacement(found, by_text[found[0]]), text)


def _script(char: str) -> str:
    """As the other engines tell scripts, and Arabic, which 2.5 reads."""
    if char.isalpha() and unicodedata.name(char, "").startswith("ARABIC "):
        return "Arab"
    return script_of(char)
