"""Scripts and languages: what an engine cannot speak is named, and the language is guessed as people would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.text.scripts import MAX_REPORTED, characters_outside, detect_language, scripts_of

SAMPLES = {
    "Hello": {"Latn"},
    "你好々": {"Hani"},
    "ひらがな": {"Hira"},
    "コーヒー": {"Kana"},
    "안녕": {"Hang"},
    "привет": {"Cyrl"},
    "مرحبا": {"Arab"},
    "שלום": {"Hebr"},
    "สวัสดี": {"Thai"},
    "नमस्ते": {"Deva"},
    "5 Ω µ": {"Grek"},
    "東京タワーに行くOK": {"Hani", "Kana", "Hira", "Latn"},
    "e\u0301\u0323": {"Latn"},
    "12:30 100% — ！？……“”（）": set(),
    "😀 ☃ ♪ → ≠ ★ ℃ ™ ℹ": set(),
    "１２①²": set(),
    "𝐇𝟏ℵ": {"Zmth"},
    "\ue000": {"Zzzz"},
    "\ufffd": {"Zzzz"},
    "𓀀": {"Zzzz"},
}


@pytest.mark.parametrize(("text", "scripts"), SAMPLES.items())
def test_scripts_of(text: str, scripts: set[str]) -> None:
    assert scripts_of(text) == scripts


@pytest.mark.parametrize(
    ("text", "scripts", "outside"),
    [
        ("Hello 你好, привет 你", ["Latn"], "你好привет"),
        ("Hello 你好", ["Latn", "Hani"], ""),
        ("コーヒー", ["Hira", "Hani"], "コヒ"),
        ("ー", ["Latn"], "ー"),
        ("٣", ["Latn"], "٣"),
        ("٣", ["Arab"], ""),
        ("你好！12 😀☃", ["Hani"], ""),
        ("𝐇ello", ["Latn"], "𝐇"),
        ("bad \ufffd\ue000", ["Latn"], "\ufffd\ue000"),
        ("안녕하세요", ["Hani", "Latn"], "안녕하세요"),
    ],
)
def test_characters_outside_are_named_once_in_order(text: str, scripts: list[str], outside: str) -> None:
    assert characters_outside(text, scripts) == tuple(outside)


def test_the_report_is_bounded() -> None:
    assert len(characters_outside("".join(map(chr, range(0x4E00, 0x5E00))), ["Latn"])) == MAX_REPORTED


@given(st.text())
def test_an_engine_with_all_scripts_of_a_text_has_nothing_outside(text: str) -> None:
    shared = {"Hira", "Kana", "Arab"}  # the long vowel mark and Arabic-Indic digits belong to several
    outside = characters_outside(text, scripts_of(text) | shared)
    assert all(not scripts_of(character) for character in outside)


@given(st.text(), st.text())
def test_scripts_of_a_whole_are_those_of_its_parts(one: str, other: str) -> None:
    assert scripts_of(one + other) == scripts_of(one) | scripts_of(other)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hello, world.", "en"),
        ("Café déjà vu", "en"),
        ("", "en"),
        ("12345", "en"),
        ("Привет", "en"),
        ("你好，世界。", "zh"),
        ("我用Python和Django写代码", "zh"),
        ("请打开Microsoft Visual Studio Code", "zh"),
        ("iPhone 17 Pro Max发布", "zh"),
        ("Hello 世界", "zh"),
        ("学韩语：안녕하세요是你好的意思", "zh"),
        ("日语里的“の”相当于汉语里的“的”，是最常见的助词之一，使用频率很高。", "zh"),
        ("東京タワー", "ja"),
        ("東京特許許可局へ", "ja"),
        ("はい", "ja"),
        ("iPhoneを買った", "ja"),
        ("안녕하세요", "ko"),
        ("오늘은 Python을 배워요", "ko"),
        ("大學에서 배웁니다", "ko"),
        ("The word 你好 means hello.", "en"),
        ("Please say 你好 to him", "en"),
        ("THIS IS VERY LOUD TEXT 你", "en"),
    ],
)
def test_the_language_is_the_one_that_carries_the_text(text: str, language: str) -> None:
    assert detect_language(text) == language
