"""The same sound has one fingerprint in every lossless file; another sound or another rate has another."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from synth.audio.fingerprint import fingerprint
from synth.audio.reading import read_reference
from synth.audio.samples import from_int16
from synth.types import Pcm

from .uploads import encoded, file_of, id3, spoken

LOSSLESS = (
    ("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "PCM_32"), ("WAV", "FLOAT"), ("WAVEX", "PCM_16"),
    ("RF64", "PCM_16"), ("FLAC", "PCM_16"), ("FLAC", "PCM_24"),
)  # fmt: skip
VALUES = arrays.arrays(np.int16, st.integers(1, 400), elements=st.integers(-32768, 32767))
KINDS = st.sampled_from(LOSSLESS)
FORM = re.compile(r"ref:[0-9a-f]{32}")


def _lasting(seed: int, rate: int, gain: float) -> np.ndarray:
    values = spoken(3.2, rate, seed=seed).samples * gain
    return np.rint(values * 32768).astype(np.int16)


def _file(values: np.ndarray, rate: int, kind: tuple[str, str], *, channels: int) -> bytes:
    floats = kind[1] == "FLOAT"
    samples = from_int16(values) if floats else values
    return encoded(np.repeat(samples[:, None], channels, axis=1), rate, *kind)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    rate=st.sampled_from([8000, 16000, 22050]),
    gain=st.floats(0.2, 2.0),
    kinds=st.tuples(KINDS, KINDS),
    channels=st.tuples(st.sampled_from([1, 2]), st.sampled_from([1, 2])),
    title=st.binary(max_size=300),
)
def test_container_depth_channels_and_tags_are_no_part_of_a_sound(
    seed: int, rate: int, gain: float, kinds: tuple, channels: tuple, title: bytes
) -> None:
    values = _lasting(seed, rate, gain)
    one, other = (_file(values, rate, kind, channels=count) for kind, count in zip(kinds, channels, strict=True))
    assert read_reference(one).fingerprint == read_reference(id3(title) + other).fingerprint


@settings(max_examples=150, deadline=None)
@given(values=VALUES, at=st.integers(0, 399), step=st.sampled_from([-1, 1]))
def test_one_step_of_one_sample_is_another_sound(values: np.ndarray, at: int, step: int) -> None:
    other = values.copy()
    at %= len(values)
    other[at] = other[at] - step if abs(int(other[at]) + step) > 32767 else other[at] + step
    assert fingerprint(Pcm(from_int16(values), 16000)) != fingerprint(Pcm(from_int16(other), 16000))


@settings(max_examples=50, deadline=None)
@given(values=VALUES, rates=st.lists(st.integers(8000, 48000), min_size=2, max_size=2, unique=True))
def test_the_rate_is_part_of_it_and_the_form_is_fixed(values: np.ndarray, rates: list[int]) -> None:
    one, other = (fingerprint(Pcm(from_int16(values), rate)) for rate in rates)
    assert one != other
    assert FORM.fullmatch(one)


@pytest.mark.parametrize("kind", [("FLAC", "PCM_24"), ("WAV", "PCM_24")])
def test_a_finer_sound_above_48_khz_has_one_name_too(kind: tuple[str, str]) -> None:
    values = np.rint(spoken(rate=96000).samples.astype(np.float64) * 2**23).astype(np.int32) << 8
    reference = read_reference(encoded(values, 96000, *kind))
    assert reference.fingerprint == read_reference(encoded(values, 96000, "WAV", "PCM_32")).fingerprint


def test_the_name_stays_over_versions() -> None:
    assert fingerprint(Pcm(from_int16(np.array([0, 1, -1, 32767, -32768], np.int16)), 24000)) == (
        "ref:0230a92b042288802ca7c5c1a41471a3"
    )


def test_a_lossy_copy_is_another_sound() -> None:
    names = {read_reference(file_of(spoken(), *kind)).fingerprint for kind in (("WAV",), ("OGG",), ("MP3",))}
    assert len(names) == 3
