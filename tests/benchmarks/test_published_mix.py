"""The mix of the published case: as many repeated and new sentences as it says, none of them twice in two rounds."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.texts import SENTENCES, Sentences, by_popularity, phrases_and_others, poisson
from synth.text.split import split


def test_a_thousand_requests_have_410_sounds() -> None:
    texts = phrases_and_others(Sentences(1), 1000, seed=2)
    said = Counter(texts)
    often = [text for text, count in said.items() if count > 1]
    assert len(texts) == 1000
    assert len(said) == 410
    assert len(often) == 10
    assert sum(said[text] for text in often) == 600


@given(st.integers(0, 1000))
def test_rounds_share_no_sentence(seed: int) -> None:
    fresh = Sentences(seed)
    first, second = (set(phrases_and_others(fresh, 200, seed=number)) for number in (1, 2))
    assert not first & second


def test_no_sentence_is_handed_out_twice() -> None:
    fresh = Sentences(3)
    assert len(set(SENTENCES)) == len(SENTENCES)
    assert sorted(fresh.take(len(SENTENCES))) == sorted(SENTENCES)
    with pytest.raises(ValueError, match="0 sentences are left"):
        fresh.take(1)


def test_each_is_one_sentence_to_the_splitter() -> None:
    assert all(split(text, language="en", max_units=200) == [text] for text in SENTENCES[::97])


def test_the_first_phrase_is_the_most_popular() -> None:
    phrases = Sentences(1).take(100)
    said = Counter(by_popularity(phrases, 5000, seed=1, exponent=1.0))
    assert said.most_common(1)[0][0] == phrases[0]
    assert said[phrases[0]] > 3 * said[phrases[9]] > 0


def test_arrivals_come_in_order_and_at_the_rate() -> None:
    times = poisson(4000, 8.0, seed=1)
    assert times == sorted(times)
    assert 4000 / times[-1] == pytest.approx(8.0, rel=0.1)
