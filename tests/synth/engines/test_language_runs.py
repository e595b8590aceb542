"""Mixed text is given to the phonemiser of its script, number by number, and no character is lost on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.engines._scripts import Unspeakable, folded, language_runs, script_of

SPEAKABLE = st.text(st.sampled_from("你好世界ありカタabcXYZé0123456789 ，。、!?-¥%.〇々ー「」()"), max_size=60)


@pytest.mark.parametrize(
    ("home", "text", "runs"),
    [
        ("zh", "我有3个iPhone 15", [("zh", "我有3个"), ("en", "iPhone "), ("zh", "15")]),
        ("zh", "用iPhone 15 Pro拍", [("zh", "用"), ("en", "iPhone 15 Pro"), ("zh", "拍")]),
        ("zh", "气温-5度", [("zh", "气温-5度")]),
        ("zh", "价格¥99.50元", [("zh", "价格¥99.50元")]),
        ("zh", "他说「ありがとう」", [("zh", "他说「"), ("ja", "ありがとう」")]),
        ("zh", "B2B平台", [("en", "B2B"), ("zh", "平台")]),
        ("zh", "Call me in 5 minutes", [("en", "Call me in 5 minutes")]),
        ("zh", "Room 12", [("en", "Room 12")]),
        ("ja", "日本語のAPIを3回", [("ja", "日本語の"), ("en", "API"), ("ja", "を3回")]),
        ("en", "The word 你好 means hello", [("en", "The word "), ("zh", "你好 "), ("en", "means hello")]),
        ("en", "日本です is short", [("ja", "日本です "), ("en", "is short")]),
        ("en", "12345", [("en", "12345")]),
        ("ja", "12345", [("ja", "12345")]),
    ],
)
def test_each_run_goes_to_its_reader(home: str, text: str, runs: list[tuple[str, str]]) -> None:
    assert language_runs(text, home) == runs


@given(SPEAKABLE, st.sampled_from(["zh", "en", "ja"]))
def test_the_runs_join_to_the_text(text: str, home: str) -> None:
    assert "".join(run for _, run in language_runs(text, home)) == text


@given(SPEAKABLE, st.sampled_from(["zh", "en", "ja"]))
def test_han_and_kana_never_go_to_the_english_reader(text: str, home: str) -> None:
    for language, run in language_runs(text, home):
        assert language != "en" or {script_of(char) for char in run} <= {"Latn", "Zyyy"}


@pytest.mark.parametrize("text", ["привет", "你好 안녕", "α", "สวัสดี", "שלום"])
def test_scripts_without_a_reader_are_refused(text: str) -> None:
    with pytest.raises(Unspeakable):
        language_runs(text, "zh")


@pytest.mark.parametrize(
    ("text", "same"),
    [("ＡＢＣ１２３", "ABC123"), ("ｶﾀｶﾅｶﾞ", "カタカナガ"), ("第Ⅳ章", "第4章"), ("①", "1"), ("½", "1/2"), ("٣", "3")],
)
def test_forms_of_one_character_are_folded(text: str, same: str) -> None:
    assert folded(text) == same


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert folded(folded(text)) == folded(text)
