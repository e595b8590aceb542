"""Laws of the splitter: nothing is lost, nothing is mute, limits hold, and no piece depends on its neighbours."""

import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from synth.text.normalise import is_speakable, normalise
from synth.text.split import CJK_UNITS, split, units
from synth.text.tokens import MARK

FRAGMENTS = st.sampled_from(
    [
        *"。！？!?.…,，；;：:\n ()（）“”‘’\"'「」《》<>|[]/~—-$@#😀ー々カかっ한é字行a1",
        *("……", "...", "Dr.", "U.S.", "3.14", "e.g.", "No. 5", "https://a.b/c?d=e", "a.b@c.org", "README.md"),
        *(
            "<行|XING2>",
            "<|zh|>",
            "[重庆](chóng qìng)",
            "/ˈhɛ.loʊ/",
            "XING2",
            "Hello",
            "word",
            "你好",
            "ありがとう",
            "안녕",
        ),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(FRAGMENTS, max_size=60).map("".join))
LIMITS = st.one_of(st.integers(1, 30), st.integers(30, 400))
LANGUAGES = st.sampled_from(["zh", "en", "ja", "ko", "de"])

ZH = [
    "今天天气很好。",
    "我们去公园吧！",
    "你来吗？",
    "他说：“我不去。我累了。”",
    "价格是3.14元！！！",
    "（注：见第3页。）",
    "他走了……。",
]
EN = [
    "Dr. Smith arrived at 10:30 a.m. today.",
    "How are you?",
    '"Stop!" he said.',
    "It costs $3.14.",
    "See (e.g.) a.b/c?d.",
]
EN += ['The 5" screen is good.', "We use v2.0.1!", "Great! 😀", "I left (why?) him."]
JA = ["今日は晴れです。", "「行こう。」と彼は言った。", "コーヒーを飲む？", "寒い…。"]
KO = ["안녕하세요.", '그는 "안녕." 이라고 말했다.', "좋아요!"]
SENTENCES = [*ZH, *EN, *JA, *KO]


def pieces_of(text: str, language: str = "zh", max_units: int = 400) -> list[str]:
    return split(text, language=language, max_units=max_units)


def indivisible(piece: str) -> bool:
    """One mark, or one speakable character: with whatever hangs on it."""
    rest = regex.sub(MARK, lambda mark: "字" if is_speakable(mark[0]) else "", piece)
    return sum(is_speakable(character) for character in regex.findall(r"\X", rest)) <= 1


@settings(max_examples=300)
@given(TEXTS, LANGUAGES, LIMITS)
@example("“a。b", "zh", 1)
@example("!!! a", "en", 2)
def test_joined_pieces_are_the_text_and_each_can_be_spoken(text: str, language: str, max_units: int) -> None:
    pieces = pieces_of(text, language, max_units)
    assert "".join(pieces) == text
    assert all(pieces)
    assert all(map(is_speakable, pieces)) or not is_speakable(text)


@settings(max_examples=300)
@given(TEXTS.filter(is_speakable), LIMITS)
def test_no_piece_is_beyond_the_limit_that_could_be_cut(text: str, max_units: int) -> None:
    for piece in pieces_of(text, max_units=max_units):
        assert units(piece) <= max_units or indivisible(piece)


@settings(max_examples=300)
@given(TEXTS, LIMITS)
def test_cuts_fall_between_grapheme_clusters(text: str, max_units: int) -> None:
    boundaries = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
    position = 0
    for piece in pieces_of(text, max_units=max_units):
        position += len(piece)
        assert position in boundaries


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8), st.sampled_from([" ", "\n"]), LIMITS)
def test_a_sentence_is_cut_alike_alone_and_among_others(sentences: list[str], gap: str, max_units: int) -> None:
    alone = [piece.strip() for sentence in sentences for piece in pieces_of(sentence, max_units=max_units)]
    together = [piece.strip() for piece in pieces_of(gap.join(sentences), max_units=max_units)]
    assert together == alone


@given(st.lists(st.sampled_from([*ZH, *JA]), min_size=1, max_size=8), LIMITS)
def test_the_same_holds_without_white_space_in_chinese_and_japanese(sentences: list[str], max_units: int) -> None:
    alone = [piece for sentence in sentences for piece in pieces_of(sentence, max_units=max_units)]
    assert pieces_of("".join(sentences), max_units=max_units) == alone


@given(st.lists(st.sampled_from(SENTENCES), min_size=3, max_size=8), st.sampled_from(SENTENCES), st.data())
def test_editing_one_sentence_leaves_the_others_pieces(sentences: list[str], other: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(sentences) - 1))
    edited = [*sentences[:place], other, *sentences[place + 1 :]]
    before = [piece.strip() for piece in pieces_of(" ".join(sentences))]
    after = [piece.strip() for piece in pieces_of(" ".join(edited))]
    removed = len(pieces_of(sentences[place]))
    assert before[: len(pieces_of(" ".join(sentences[:place])))] == after[: len(pieces_of(" ".join(edited[:place])))]
    tail = len(before) - len(pieces_of(" ".join(sentences[:place]))) - removed
    assert tail == 0 or before[-tail:] == after[-tail:]


@given(TEXTS, LIMITS)
def test_pieces_of_a_normalised_text_are_normalised(text: str, max_units: int) -> None:
    for piece in pieces_of(normalise(text), max_units=max_units):
        assert normalise(piece) == piece.strip()


@given(st.text("aé1 .字かカ한", min_size=1))
def test_units_count_cjk_fourfold_and_surrounding_space_not(text: str) -> None:
    assert units(text) == sum(CJK_UNITS if character in "字かカ한" else 1 for character in text.strip())
