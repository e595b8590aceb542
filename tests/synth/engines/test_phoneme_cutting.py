"""Phonemes over the model's limit are cut at pauses, and nothing is lost or doubled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.engines._phonemes import cut, speakable, tidy
from synth.engines._scripts import Unspeakable

PHONEMES = st.text(st.sampled_from("abdeknsɕʨɨɯ→↘ˈ ,.!;…"), max_size=300).map(tidy)
ALPHABET = {char: index for index, char in enumerate('abcdefghijklmnopqrstuvwxyz ,.!?—…"()“”')}


def sounds(text: str) -> str:
    return "".join(char for char in text if char.isalpha() and char != "ˈ")


@given(PHONEMES, st.integers(20, 80))
def test_pieces_keep_every_sound_in_order_and_the_limit(phonemes: str, limit: int) -> None:
    pieces = cut(phonemes, limit)
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert sounds("".join(pieces)) == sounds(phonemes)


@pytest.mark.parametrize(
    ("phonemes", "first"),
    [
        ("aaaa bbbbb. ccc, dddd eeee", "aaaa bbbbb."),
        ("aaaa bbbbb, ccc dddd eeee", "aaaa bbbbb,"),
        ("aaaa bbbb cccc dddd eeee", "aaaa bbbb cccc dddd"),
        ("a" * 40, "a" * 20),
    ],
)
def test_the_best_pause_wins(phonemes: str, first: str) -> None:
    assert cut(phonemes, 20)[0] == first


def test_short_phonemes_are_left_whole() -> None:
    assert cut("hello. world.", 20) == ["hello. world."]


@pytest.mark.parametrize("phonemes", ["", " ", "...", "“”", "—!?"])
def test_punctuation_alone_is_refused(phonemes: str) -> None:
    with pytest.raises(Unspeakable):
        speakable(phonemes, ALPHABET)


def test_a_sound_without_a_symbol_is_refused_and_a_mark_is_not() -> None:
    with pytest.raises(Unspeakable):
        speakable("heλλo", ALPHABET)
    assert speakable("hello ★ world", ALPHABET) == "hello world"


@given(st.text(st.sampled_from("ab ,.，。！“”()[]「」…\n"), max_size=40))
def test_tidying_twice_changes_nothing_more(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)
