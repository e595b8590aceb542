"""Segments joined: the pause that is heard is the one that was set, nothing clicks, no sound is lost."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.audio.pcm import FADE_MS, KEPT_SILENCE_MS, join
from synth.types import Pcm

from .signals import after, silence, sine, speech_like

RATE = 24000
RATES = st.sampled_from([8000, 16000, 22050, 24000, 48000])
EDGES = st.floats(0.0, 0.6)


def _tone(before: float, sound: float, behind: float, rate: int) -> Pcm:
    """A block of full-level samples with silence around it: its edges are where the sound starts and ends."""
    block = Pcm(np.full(max(1, round(sound * rate)), 0.5, dtype=np.float32), rate)
    return after(silence(before, rate), block, silence(behind, rate))


def _gaps(pcm: Pcm) -> list[int]:
    """How many samples lie between one sounding stretch and the next."""
    sounding = np.flatnonzero(np.abs(pcm.samples) > 0)
    steps = np.diff(sounding) - 1
    return [int(step) for step in steps if step > 0]


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(st.tuples(EDGES, st.floats(0.05, 0.3), EDGES), min_size=2, max_size=5),
    pause_ms=st.integers(2 * KEPT_SILENCE_MS, 2000),
    rate=RATES,
)
def test_the_pause_heard_is_the_pause_set(pieces: list[tuple[float, float, float]], pause_ms: int, rate: int) -> None:
    joined = join([_tone(*piece, rate) for piece in pieces], pause_ms=pause_ms)
    gaps = _gaps(joined)
    assert len(gaps) == len(pieces) - 1
    # A fade starts from zero: where a piece had no silence of its own, one sample at each side of it is silent.
    assert all(abs(gap - pause_ms * rate / 1000) <= 3 for gap in gaps)


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(st.tuples(EDGES, st.floats(0.05, 0.3), EDGES), min_size=1, max_size=5),
    pause_ms=st.integers(0, 2000),
    rate=RATES,
)
def test_the_length_is_the_sounds_and_the_pauses_and_the_silence_kept_at_the_ends(
    pieces: list[tuple[float, float, float]], pause_ms: int, rate: int
) -> None:
    def kept(seconds: float) -> int:
        return min(round(seconds * rate), round(KEPT_SILENCE_MS * rate / 1000))

    joined = join([_tone(*piece, rate) for piece in pieces], pause_ms=pause_ms)
    sounds = sum(max(1, round(sound * rate)) for _, sound, _ in pieces)
    pauses = sum(
        max(round(pause_ms * rate / 1000), kept(one[2]) + kept(following[0]))
        for one, following in itertools.pairwise(pieces)
    )
    assert len(joined.samples) == kept(pieces[0][0]) + sounds + pauses + kept(pieces[-1][2])


@pytest.mark.parametrize("pause_ms", [0, 5, 150])
@pytest.mark.parametrize("pitch", [100.0, 330.0, 1000.0])
def test_joints_step_no_harder_than_the_sound_itself(pitch: float, pause_ms: int) -> None:
    piece = sine(0.31, pitch=pitch, level=0.8)  # starts at its highest value, ends anywhere
    joined = join([piece, piece, piece], pause_ms=pause_ms)
    own = np.abs(np.diff(piece.samples)).max()
    bare = np.abs(np.diff(np.concatenate([[0], piece.samples, [0]]))).max()
    steps = np.abs(np.diff(np.concatenate([[0], joined.samples, [0]]))).max()
    assert steps <= own * 1.05 + 0.011
    assert bare > steps * 1.5, "without fades this sound would click: else the test shows nothing"


def test_noise_that_starts_and_stops_at_once_gets_quiet_edges() -> None:
    noise = Pcm(np.random.default_rng(3).uniform(-0.9, 0.9, RATE).astype(np.float32), RATE)
    joined = join([noise, noise], pause_ms=100).samples
    fade = RATE * FADE_MS // 1000
    for edge in (joined[: fade // 5], joined[RATE - fade // 5 : RATE], joined[RATE + RATE // 10 :][: fade // 5]):
        assert np.abs(edge).max() < 0.1


def test_sound_inside_is_left_as_it_is() -> None:
    piece = speech_like(1.0)
    joined = join([piece, piece], pause_ms=300).samples
    inner = piece.samples[4000:20000]
    at = int(np.argmax(np.abs(np.correlate(joined[:30000], inner, mode="valid"))))
    assert np.array_equal(joined[at : at + len(inner)], inner)


def test_a_quiet_ending_is_not_trimmed() -> None:
    tail = Pcm((0.004 * np.random.default_rng(1).standard_normal(4800)).astype(np.float32), RATE)
    spoken = after(sine(0.5, level=0.5), tail)
    assert len(join([spoken], pause_ms=0).samples) >= len(spoken.samples) - 240


def test_pieces_of_nothing_but_silence_add_no_pause() -> None:
    piece = speech_like(0.5)
    joined = join([silence(1.0), piece, silence(2.0), piece, silence(0.3)], pause_ms=200)
    assert np.array_equal(joined.samples, join([piece, piece], pause_ms=200).samples)
    assert len(join([silence(1.0)], pause_ms=200).samples) == 0


def test_the_pieces_given_are_not_written_to() -> None:
    piece = sine(0.2)
    before = piece.samples.copy()
    join([piece, piece], pause_ms=10)
    assert np.array_equal(piece.samples, before)


@pytest.mark.parametrize("pieces", [[], [sine(0.1, 8000), sine(0.1, 16000)]], ids=["none", "mixed rates"])
def test_no_pieces_and_mixed_rates_are_refused(pieces: list[Pcm]) -> None:
    with pytest.raises(ValueError, match="one sample rate"):
        join(pieces, pause_ms=100)
