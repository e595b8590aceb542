"""When a failed webhook is sent again: the laws of the ladder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.webhooks.schedule import JITTER, LONGEST_WISH, next_pause

DEFAULT = (5, 30, 120, 600, 1800, 3600, 10800, 21600, 43200, 86400, 86400)
ladders = st.lists(st.floats(min_value=0.1, max_value=1e6), min_size=1, max_size=20)
chances = st.floats(min_value=0, max_value=1, exclude_max=True)
wishes = st.none() | st.floats(min_value=0, allow_infinity=True)


@given(ladders, st.integers(min_value=1, max_value=30), chances, wishes)
def test_the_laws(pauses, tries, chance, wish):
    pause = next_pause(tries, pauses, retry_after=wish, random=lambda: chance)
    if tries > len(pauses):
        assert pause is None
        return
    assert pause is not None
    rung = pauses[tries - 1]
    wished = min(wish or 0.0, LONGEST_WISH)
    assert pause >= wished
    assert pause >= rung * (1 - JITTER) * (1 - 1e-9)
    assert pause <= max(rung * (1 + JITTER) * (1 + 1e-9), wished)


def test_the_jitter_reaches_both_ends():
    low, high = (next_pause(1, [1000.0], retry_after=None, random=lambda at=at: at) for at in (0.0, 0.999999))
    assert low == pytest.approx(900)
    assert high == pytest.approx(1100, rel=1e-4)


def test_twelve_tries_within_about_three_days():
    pauses = [next_pause(tries, DEFAULT, retry_after=None, random=lambda: 0.5) for tries in range(1, 13)]
    assert pauses == [pytest.approx(pause) for pause in DEFAULT] + [None]
    assert 2.5 * 86400 < sum(DEFAULT) < 3.5 * 86400


def test_a_receiver_that_asks_for_less_gets_the_ladder():
    assert next_pause(2, DEFAULT, retry_after=1, random=lambda: 0.5) == pytest.approx(30)
