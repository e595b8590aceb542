"""The samples that leave an engine: no long silence at the ends, joined with pauses, never over full scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from synth.engines._waveform import SAMPLE_RATE, joined, limited, trimmed


def tone(seconds: float, level: float = 0.5) -> NDArray[np.float32]:
    time = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (level * np.sin(2 * np.pi * 220 * time)).astype(np.float32)


@given(st.floats(0.01, 4.0))
def test_peaks_stay_within_full_scale_and_the_shape_is_kept(level: float) -> None:
    before = tone(0.1, level)
    after = limited(before)
    assert np.abs(after).max() <= 1.0
    assert np.allclose(after / np.abs(after).max(), before / np.abs(before).max(), atol=1e-5)


def test_silence_at_the_ends_is_cut_and_the_sound_is_not() -> None:
    silence = np.zeros(SAMPLE_RATE, np.float32)
    sound = np.concatenate([silence, tone(0.5), silence])
    assert 0.5 <= len(trimmed(sound)) / SAMPLE_RATE < 0.65


def test_silence_inside_stays() -> None:
    sound = np.concatenate([tone(0.3), np.zeros(SAMPLE_RATE, np.float32), tone(0.3)])
    assert len(trimmed(sound)) == pytest.approx(len(sound), abs=0.1 * SAMPLE_RATE)


def test_pieces_are_joined_with_a_pause_between_only() -> None:
    pieces = [tone(0.2), tone(0.3)]
    assert len(joined(pieces, pause=0.1)) == sum(map(len, pieces)) + int(0.1 * SAMPLE_RATE)
    assert len(joined(pieces[:1], pause=0.1)) == len(pieces[0])
