"""A tenant's lexicon is put into a request as the engine can take it, whole words only, and never over the request."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.lexicon import Word, said_as
from synth.types import Pronunciation
from tests.synth.spec.speakers import ABLE, PLAIN

PINYIN = replace(ABLE, pronunciation_kinds=("pinyin",), syllables=("chong2", "qing4"))
SQL = Word("SQL", "alias", "sequel")
CHONGQING = Word("重庆", "pinyin", "chong2 qing4")


def said(text: str, *words: Word, card: Any = ABLE, language: str = "zh", own: tuple[Pronunciation, ...] = ()) -> Any:
    return said_as(text, own, words, language=language, card=card)


def test_an_engine_with_pronunciations_is_told_of_the_words_in_the_text() -> None:
    assert said("我在重庆。", CHONGQING, SQL) == ("我在重庆。", (Pronunciation("重庆", "pinyin", "chong2 qing4"),))


def test_for_an_engine_without_them_an_alias_takes_the_words_place() -> None:
    assert said("Learn SQL, MySQL and SQL.", SQL, card=PLAIN) == ("Learn sequel, MySQL and sequel.", ())


@pytest.mark.parametrize("word", [CHONGQING, Word("重庆", "ipa", "ʈʂʰʊŋ")])
def test_what_an_engine_cannot_read_is_left_out(word: Word) -> None:
    assert said("我在重庆。", word, card=PLAIN) == ("我在重庆。", ())


def test_a_syllable_or_a_kind_that_the_engine_lacks_is_left_out() -> None:
    others = Word("重要", "pinyin", "zhong4 yao4"), Word("我", "ipa", "wo")
    told = said("我在重庆重要。", CHONGQING, *others, card=PINYIN)
    assert told == ("我在重庆重要。", (Pronunciation("重庆", "pinyin", "chong2 qing4"),))


def test_an_alias_in_letters_that_the_engine_lacks_is_left_out() -> None:
    assert said("SQL", Word("SQL", "alias", "数据库"), card=PLAIN) == ("SQL", ())


def test_what_the_request_says_of_a_word_stands() -> None:
    own = (Pronunciation("重庆", "alias", "山城"),)
    assert said("我在重庆。", CHONGQING, own=own) == ("我在重庆。", own)


def test_a_word_for_one_language_comes_before_one_for_all_and_not_in_another() -> None:
    words = [Word("SQL", "alias", "es-ku-el", "en"), SQL, Word("API", "alias", "a pi ai", "ja")]
    assert said("SQL API", *words, card=PLAIN, language="en") == ("es-ku-el API", ())
    assert said("SQL API", *words, card=PLAIN, language="zh") == ("sequel API", ())


def test_the_longest_word_comes_first() -> None:
    words = [Word("New York", "alias", "NY"), Word("New", "alias", "Old")]
    assert said("New York is New.", *words, card=PLAIN)[0] == "NY is Old."


texts = st.text("ab c重庆.", max_size=12)


@given(text=texts, words=st.lists(st.builds(Word, texts.filter(bool), st.just("alias"), texts), max_size=4))
def test_the_order_in_which_the_words_are_given_changes_nothing(text: str, words: list[Word]) -> None:
    unique = list({word.text: word for word in words}.values())
    assert said(text, *unique, card=PLAIN) == said(text, *reversed(unique), card=PLAIN)
    assert said(text, *unique)[0] == text, "an engine that is told of words gets the text as it is"
