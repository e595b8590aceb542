"""Phoneme strings in the alphabet that Kokoro and hibari share: punctuation, tidying, cutting at the best pause."""

import re

from synth.engines._scripts import Unspeakable

_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("、，､﹐", ","),
        **dict.fromkeys("。．｡", "."),
        **dict.fromkeys("！﹗", "!"),
        **dict.fromkeys("？﹖", "?"),
        **dict.fromkeys("：∶", ":"),
        **dict.fromkeys("；﹔", ";"),
        **dict.fromkeys("〜～~–―─‒", "—"),
        **dict.fromkeys("«《〈「『【〔［[{｛", " “"),
        **dict.fromkeys("»》〉」』】〕］]}｝", "” "),
        **dict.fromkeys("（", " ("),
        **dict.fromkeys("）", ") "),
        **dict.fromkeys("·・•\n\r\t\u3000\u00a0", " "),
        "⋯": "…",
    }
)
_PAUSES = ("[.!?…]", "[;:—]", ",", " ")
_SOUND = re.compile(r"""[^\s;:,.!?—…"()“”ˈˌːˈ↓→↗↘]""")


def punctuation(text: str) -> str:
    """Punctuation of any script in the model's alphabet; other characters are left alone."""
    return text.translate(_PUNCTUATION)


def tidy(phonemes: str) -> str:
    """Single spaces, no space before a closing mark or after an opening one, no mark repeated."""
    phonemes = punctuation(phonemes).replace("...", "…")
    phonemes = re.sub(r"([;:,.!?—…])(?:\s*\1)+", r"\1", phonemes)
    phonemes = re.sub(r"\s+", " ", phonemes)
    phonemes = re.sub(r" (?=[;:,.!?…)”])|(?<=[(“]) ", "", phonemes)
    return phonemes.strip()


def speakable(phonemes: str, alphabet: dict[str, int]) -> str:
    """The phonemes without marks the model has no symbol for.

    Raises Unspeakable when nothing sounds, or when a letter or sound would be lost.
    """
    unknown = {char for char in phonemes if char not in alphabet}
    if any(char.isalnum() for char in unknown):
        raise Unspeakable("a character has no phoneme in this model")
    for char in unknown:
        phonemes = phonemes.replace(char, " ")
    phonemes = tidy(phonemes)
    if not _SOUND.search(phonemes):
        raise Unspeakable("the text has nothing to pronounce")
    return phonemes


def cut(phonemes: str, limit: int) -> list[str]:
    """Pieces of at most `limit` phonemes: each ends at the best pause in its second half, nothing is lost."""
    pieces = []
    while len(phonemes) > limit:
        end = _best_pause(phonemes, limit)
        pieces.append(phonemes[:end].strip())
        phonemes = phonemes[end:].strip()
    return [piece for piece in (*pieces, phonemes) if _SOUND.search(piece)]


def _best_pause(phonemes: str, limit: int) -> int:
    for pause in _PAUSES:
        ends = [match.end() for match in re.finditer(pause, phonemes[:limit]) if match.end() > limit // 2]
        if ends:
            return ends[-1]
    return limit
