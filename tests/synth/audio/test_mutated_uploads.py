"""Whatever is done to a real file's bytes, it is read within the limits or refused; there is no third way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.audio.answers import SLACK_S
from synth.audio.reading import read_reference
from synth.audio.references import DEFAULT_LIMITS, REFUSALS, ReferenceAudio, ReferenceRefused

from .mutations import SEEDS, mutated

pytestmark = pytest.mark.parametrize("name", SEEDS)


def _outcome(data: bytes) -> ReferenceAudio | ReferenceRefused:
    try:
        return read_reference(data)
    except ReferenceRefused as refused:
        return refused


def _check(outcome: ReferenceAudio | ReferenceRefused) -> None:
    if isinstance(outcome, ReferenceRefused):
        assert outcome.code in REFUSALS
        assert outcome.message % outcome.params
        return
    assert DEFAULT_LIMITS.shortest <= outcome.seconds <= DEFAULT_LIMITS.longest + SLACK_S
    assert DEFAULT_LIMITS.lowest_rate <= outcome.pcm.sample_rate <= DEFAULT_LIMITS.kept_rate
    assert np.isfinite(outcome.pcm.samples).all()
    assert np.abs(outcome.pcm.samples).max() <= 1.0


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_mutated_file_is_read_or_refused(name: str, seed: int) -> None:
    _check(_outcome(mutated(SEEDS[name](), seed)))


@settings(max_examples=50, deadline=None)
@given(at=st.floats(0, 1), start=st.binary(max_size=64))
def test_a_cut_or_prefixed_file_is_read_or_refused(name: str, at: float, start: bytes) -> None:
    whole = SEEDS[name]()
    for data in (whole[: int(at * len(whole))], start + whole, whole[int(at * len(whole)) :]):
        _check(_outcome(data))
