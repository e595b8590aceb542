"""Sentences beyond an engine's limit are cut at their best pauses, evenly, and never inside what must stay whole."""

import pytest

from synth.text.split import split, units


def pieces_of(text: str, max_units: int) -> list[str]:
    return split(text, language="zh", max_units=max_units)


@pytest.mark.parametrize(
    ("text", "max_units", "pieces"),
    [
        (
            "他先去了学校，后来去了商店；最后才回到家里，天黑了。",
            60,
            ["他先去了学校，后来去了商店；", "最后才回到家里，天黑了。"],
        ),
        ("他先去了学校，后来去了商店，最后才回到家里。", 60, ["他先去了学校，后来去了商店，", "最后才回到家里。"]),
        ("One two three, four five six", 20, ["One two three, ", "four five six"]),
        ("One two three four five six", 16, ["One two three ", "four five six"]),
        ("他说：“我不去。我累了。我要睡觉了。”", 40, ["他说：“我不去。", "我累了。", "我要睡觉了。”"]),
        ("没有停顿的一长串汉字在这里", 28, ["没有停顿的一", "长串汉字在这里"]),
        ("東京都のコンピューターへ", 40, ["東京都の", "コンピューターへ"]),
        ("abcdefghij", 5, ["abcde", "fghij"]),
        ("안녕하세요 저는 학생입니다", 40, ["안녕하세요 저는 ", "학생입니다"]),
    ],
)
def test_the_best_pause_within_the_limit_is_taken(text: str, max_units: int, pieces: list[str]) -> None:
    assert pieces_of(text, max_units) == pieces


@pytest.mark.parametrize("max_units", range(24, 60))
@pytest.mark.parametrize(
    "whole",
    [
        "1,000,000.50",
        "10:30:15",
        "v2.0.1",
        "$3.14",
        "2024年",
        "don't",
        "well-known",
        "a.b@example.org",
        "https://a.bc/d?e=f",
    ],
)
def test_numbers_words_and_addresses_stay_whole(whole: str, max_units: int) -> None:
    text = f"一二三四五六七{whole}八九十甲乙 丙丁 alpha beta {whole} gamma delta 子丑寅卯{whole}辰巳午未申酉"
    assert sum(piece.count(whole) for piece in pieces_of(text, max_units)) == 3


@pytest.mark.parametrize("max_units", range(1, 40, 3))
@pytest.mark.parametrize("mark", ["<行|XING2>", "<|zh|>", "[重庆](chóng qìng)", "/ˈhɛ.loʊ wɜːld/"])
def test_inline_marks_are_never_cut_however_small_the_limit(mark: str, max_units: int) -> None:
    text = f"alpha beta {mark} gamma {mark}, delta epsilon"
    assert sum(piece.count(mark) for piece in pieces_of(text, max_units)) == 2


@pytest.mark.parametrize("length", range(101, 140))
def test_there_is_no_tiny_tail(length: int) -> None:
    assert min(map(units, pieces_of("字" * length, 400))) >= 200


def test_closing_punctuation_stays_behind_and_opening_goes_ahead() -> None:
    pieces = pieces_of("一二三四五（六七八九十）一二三四五「六七八九十」一二三四五", 20)
    assert all(piece[0] not in "）」" and piece[-1] not in "（「" for piece in pieces)


HUNDRED_THOUSAND = {
    "sentences": "你好吗？" * 25_000,
    "one sentence without a pause": "长句子没有结尾" * 14_286,
    "one sentence of words": "hello world and " * 6_250,
    "one word": "a" * 100_000,
    "abbreviations": "e.g. " * 20_000,
    "open quotes": "“a。" * 33_000,
    "one quotation": "“" + "走啊。" * 33_000 + "”",
    "open marks": "<a|" * 33_000,
    "open links": "[a](" * 25_000,
    "slashes": " /a" * 33_000,
    "addresses": "http://" * 14_000,
    "periods": "a." * 50_000,
    "blanks": "a" + " " * 100_000 + "b",
    "blank lines": "!\n" * 50_000 + "a",
    "brackets": "a(b!) " * 16_000,
}


@pytest.mark.timeout(60)  # quadratic time would take minutes; linear takes about a second
@pytest.mark.parametrize("text", HUNDRED_THOUSAND.values(), ids=HUNDRED_THOUSAND.keys())
def test_a_hundred_thousand_characters_are_cut(text: str) -> None:
    pieces = pieces_of(text, 400)
    assert "".join(pieces) == text
    assert all(units(piece) <= 400 for piece in pieces) or text.startswith("!")
