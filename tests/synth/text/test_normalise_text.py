"""Normalisation: texts that are spoken alike become one text, and nothing that changes the sound is folded."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synth.text.normalise import MAX_MARKS, is_speakable, normalise

SPACES = " \t\u00a0\u2003\u3000"
LINE_BREAKS = ["\n", "\r\n", "\r", "\u2028", "\u2029", "\u0085", "\v", "\f", "\n \n\n"]
INVISIBLE = (
    "\ufeff\u200b\u2060\u00ad\u200e\u200f\u202a\u202e\u2066\u2069\u061c\ufe0f\ufe01\U000e0100\U000e0041\x00\x07\x7f\x9f"
)
TRICKY = st.text(
    st.sampled_from(
        f"aZ1é中のк字ب\u0301\u0323\u0f73\u200c\u200d\u180b👩🏽❤{SPACES}{INVISIBLE}\n\r!。한\u1112\u1161\ud800"
    )
)


@example("\u180b\u180b")
@given(st.one_of(st.text(), TRICKY, st.text(st.characters(categories=["M", "Cf", "Lo"]), max_size=80)))
def test_it_is_idempotent(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(st.one_of(st.text(), TRICKY))
def test_its_result_is_nfc_encodable_and_trimmed(text: str) -> None:
    result = normalise(text)
    assert unicodedata.is_normalized("NFC", result)
    assert result.encode("utf-8").decode("utf-8") == result
    assert result == result.strip()
    assert "  " not in result
    assert "\n\n" not in result


@given(st.text(st.characters(categories=["L", "N", "P"])), st.sampled_from(["NFC", "NFD"]))
def test_every_canonical_form_becomes_the_same_text(text: str, form: str) -> None:
    assert normalise(unicodedata.normalize(form, text)) == normalise(text)


@given(st.lists(st.text("aé中。", min_size=1), min_size=1), st.text(SPACES, min_size=1), st.text(SPACES))
def test_surrounding_and_repeated_white_space_count_nothing(words: list[str], gap: str, edge: str) -> None:
    assert normalise(edge + gap.join(words) + edge) == normalise(" ".join(words))


@pytest.mark.parametrize("line_break", LINE_BREAKS)
def test_a_line_break_of_any_kind_is_kept_as_one_newline(line_break: str) -> None:
    assert normalise(f"one {line_break}\ttwo") == "one\ntwo"


@pytest.mark.parametrize("character", INVISIBLE)
def test_what_is_not_seen_is_not_spoken(character: str) -> None:
    assert normalise(f"co{character}op 字{character}") == "coop 字"


@pytest.mark.parametrize("text", ["می‌خواهم", "क्‍ष", "👩‍💻", "👩🏽‍💻"])
def test_joiners_stay_where_they_spell(text: str) -> None:
    assert normalise(text) == text


def test_joiners_between_other_letters_go() -> None:
    assert normalise("a\u200db\u200cc 中\u200d文") == "abc 中文"


@pytest.mark.parametrize(
    ("one", "other"), [("us", "US"), ("Ａ", "A"), ("１", "1"), ("你好！", "你好!"), ("你好。", "你好"), ("…", "...")]
)
def test_case_width_and_punctuation_are_not_folded(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


def test_a_lone_surrogate_becomes_a_character_that_is_refused() -> None:
    assert normalise("a\ud800b") == "a\ufffdb"


def test_a_hundred_thousand_marks_on_one_letter_are_bounded() -> None:
    assert len(normalise("a" + "\u0301\u0323" * 50_000)) <= MAX_MARKS + 1


def test_the_marks_that_people_write_stay() -> None:
    assert normalise("Việt hê\u0323̌") == unicodedata.normalize("NFC", "Việt hê\u0323̌")


@pytest.mark.parametrize("text", ["a", "你", "の", "ー長", "한", "3", "½", "٣", "Ω!", "...x"])
def test_a_letter_or_digit_makes_a_text_speakable(text: str) -> None:
    assert is_speakable(text)


@pytest.mark.parametrize(
    "text", ["", " \n", "！？……", "。", "—", "$%+", "😀👩‍💻", "☃", "♪", "ーー", "々", "\u3164", "\u200b"]
)
def test_blanks_punctuation_and_symbols_alone_are_not_speakable(text: str) -> None:
    assert not is_speakable(text)
