"""What was learned of an engine's pace: how it adds up, when it counts, and what it lets pass."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.audio.checks import BadAudio, check
from synth.audio.pace import LEAST_COUNT, MOST_COUNT, Paces, observed, plausible

from .signals import speech_like

CHINESE = "今天天气很好，我们一起去公园散步，好不好？"
ENGLISH = "The quick brown fox jumps over the lazy dog."

values = st.lists(st.floats(-6, 1), max_size=30)


def one_by_one(numbers: list[float]) -> Paces:
    return sum((Paces(1, number) for number in numbers), Paces())


def learned(text: str, seconds: float, *, count: int = LEAST_COUNT) -> Paces:
    return sum((observed(text, seconds * (1 + 0.1 * (-1) ** number)) for number in range(count)), Paces())


@given(first=values, second=values)
def test_notes_of_two_workers_add_up_to_those_of_one(first: list[float], second: list[float]) -> None:
    together, both = one_by_one(first) + one_by_one(second), one_by_one(first + second)
    assert together.count == both.count
    assert together.mean == pytest.approx(both.mean, abs=1e-9)
    assert together.squares == pytest.approx(both.squares, abs=1e-6)


@given(numbers=st.lists(st.floats(-6, 1), min_size=2, max_size=30))
def test_mean_and_deviation_are_those_of_the_numbers(numbers: list[float]) -> None:
    mean = sum(numbers) / len(numbers)
    paces = one_by_one(numbers)
    assert paces.mean == pytest.approx(mean, abs=1e-9)
    variance = sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
    assert paces.deviation == pytest.approx(math.sqrt(variance), abs=1e-6)


def test_later_sounds_outweigh_the_first_ones() -> None:
    old = Paces(100 * MOST_COUNT, -3.0, 0.0).faded()
    assert old.count == MOST_COUNT
    assert (old + Paces(MOST_COUNT, -2.0)).mean == pytest.approx(-2.5)


def test_too_few_sounds_tell_nothing() -> None:
    assert plausible(ENGLISH, learned(ENGLISH, 2.5, count=LEAST_COUNT - 1)) is None
    assert plausible(ENGLISH, learned(ENGLISH, 2.5)) is not None


@pytest.mark.parametrize("text", ["Hi.", "1984", "NASA, IBM, WWW, USA", "100 % of 777 = 777", "……！"])
def test_short_texts_and_those_that_can_be_read_in_more_ways_than_one_teach_nothing(text: str) -> None:
    assert observed(text, 1.0) == Paces()


def test_what_is_slower_or_faster_than_ever_is_refused() -> None:
    paces = learned(CHINESE, 4.0)
    for seconds, passes in [(4.0, True), (2.5, True), (7.0, True), (1.6, False), (13.0, False)]:
        pcm = speech_like(seconds, 8000)
        check(pcm, text=CHINESE)
        if passes:
            check(pcm, text=CHINESE, paces=paces)
        else:
            with pytest.raises(BadAudio) as caught:
                check(pcm, text=CHINESE, paces=paces)
            assert caught.value.finding == "audio_pace"


def test_the_pace_follows_the_speed_that_was_asked_for() -> None:
    paces = learned(CHINESE, 4.0)
    least, most = plausible(CHINESE, paces) or (0.0, 0.0)
    assert plausible(CHINESE, paces, speed=2.0) == pytest.approx((least / 2, most / 2))
    assert observed(CHINESE, 2.0, speed=2.0) == observed(CHINESE, 4.0)


def test_a_duration_that_was_asked_for_is_no_question_of_pace() -> None:
    paces = learned(CHINESE, 4.0)
    check(speech_like(12.0, 8000), text=CHINESE, paces=paces, duration=12.0)
    check(speech_like(40.0, 8000), text=CHINESE, duration=40.0)


@pytest.mark.parametrize(
    ("text", "fast", "slow"),
    [("Hi", 0.12, 1.2), ("W", 0.25, 1.2), ("IBM, NASA and the WWW", 1.2, 6.0), ("777777", 1.2, 8.0), ("a", 0.1, 1.0)],
)
def test_short_and_odd_texts_have_a_wide_range(text: str, fast: float, slow: float) -> None:
    paces = learned(ENGLISH, 2.5)
    check(speech_like(fast, 8000), text=text, paces=paces)
    check(speech_like(slow, 8000), text=text, paces=paces)


@given(text=st.text(max_size=200), mean=st.floats(-4, 0), spread=st.floats(0, 0.5))
def test_the_range_holds_what_was_learned(text: str, mean: float, spread: float) -> None:
    paces = Paces(LEAST_COUNT, mean, spread * spread * LEAST_COUNT)
    least, most = plausible(text, paces) or (0.0, 0.0)
    assert 0 <= least < most
