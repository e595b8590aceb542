"""The check before anything is stored: each kind of bad sound has its finding; real speech passes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.audio.checks import BadAudio, check
from synth.audio.durations import longest_plausible, shortest_plausible
from synth.errors import Retryable
from synth.types import Pcm

from .signals import after, clicks, silence, sine, speech_like, square

CHINESE = "今天天气很好，我们一起去公园散步，好不好？"
ENGLISH = "The quick brown fox jumps over the lazy dog."
JAPANESE = "今日はとてもいい天気ですね。"


def _with(pcm: Pcm, value: float) -> Pcm:
    samples = pcm.samples.copy()
    samples[100] = value
    return Pcm(samples, pcm.sample_rate)


def _cut_off(level: float) -> Pcm:
    pcm = speech_like(3.0, level=level)
    return Pcm(np.clip(pcm.samples, -1.0, 1.0), pcm.sample_rate)


def _finding(pcm: Pcm, text: str, speed: float = 1.0) -> str | None:
    try:
        check(pcm, text=text, speed=speed)
    except BadAudio as error:
        return error.finding
    return None


@pytest.mark.parametrize(
    ("pcm", "finding"),
    [
        (silence(0.0), "audio_empty"),
        (_with(speech_like(3.0), float("nan")), "audio_not_finite"),
        (_with(speech_like(3.0), float("inf")), "audio_not_finite"),
        (silence(3.0), "audio_silent"),
        (speech_like(3.0, level=0.0003), "audio_silent"),
        (_cut_off(0.8), "audio_clipped"),
        (speech_like(3.0, level=1.5), "audio_clipped"),
        (speech_like(0.3), "audio_too_short"),
        (after(speech_like(0.3), silence(3.0)), "audio_too_short"),
        (clicks(3.0), "audio_too_quiet"),
        (square(3.0, level=0.85), "audio_too_loud"),
        (after(speech_like(1.5), silence(4.6), speech_like(1.5)), "audio_gap"),
        (after(speech_like(1.5), silence(2.0), speech_like(1.5)), None),
        (speech_like(60.0, 8000), "audio_too_long"),
        (after(speech_like(4.0, 8000), silence(60.0, 8000)), "audio_too_long"),
        (speech_like(3.0), None),
    ],
    ids=[
        "no samples", "NaN", "infinite", "zeros", "hiss", "flattened", "far beyond full scale", "a sliver",
        "a sliver, padded", "clicks in a hiss", "a wall of sound", "a hole in it", "a pause in it",
        "runaway", "speech, then silence for ever", "good",
    ],
)  # fmt: skip
def test_each_kind_of_bad_sound_has_its_finding(pcm: Pcm, finding: str | None) -> None:
    assert _finding(pcm, CHINESE) == finding


def test_the_error_is_worth_a_retry_and_does_not_repeat_the_text() -> None:
    with pytest.raises(BadAudio) as caught:
        check(speech_like(0.3), text=CHINESE)
    assert isinstance(caught.value, Retryable)
    assert not set(CHINESE) & set(str(caught.value))


@pytest.mark.parametrize(
    ("text", "fast", "slow"),
    [  # seconds that real voices take, hurried and drawn out
        (CHINESE, 2.4, 12.0),
        (ENGLISH, 1.6, 7.0),
        (JAPANESE, 1.2, 6.0),
        ("안녕하세요, 반갑습니다.", 1.0, 6.0),
        ("好", 0.12, 2.0),
        ("Hi", 0.12, 2.0),
        ("a", 0.1, 1.5),
        ("W", 0.25, 2.0),
        ("我!", 0.12, 3.0),
        ("IBM, NASA and the WWW", 1.2, 8.0),
        ("100000000000000000", 0.7, 15.0),
        ("3.14159", 0.9, 8.0),
        ("777777", 1.2, 10.0),
        ("https://example.com/a?b=c", 1.5, 15.0),
        ("承る", 0.4, 2.0),
        ("他……走了。", 0.5, 6.0),
        ("今天用 Python 写代码", 1.2, 6.0),
    ],
)
def test_real_speech_is_never_refused_for_its_length(text: str, fast: float, slow: float) -> None:
    assert _finding(speech_like(fast, 8000), text) is None
    assert _finding(speech_like(slow, 8000), text) is None


@pytest.mark.parametrize("text", [CHINESE, ENGLISH, JAPANESE])
def test_a_tenth_and_tenfold_are_refused(text: str) -> None:
    usual = {CHINESE: 4.5, ENGLISH: 3.0, JAPANESE: 2.5}[text]
    assert _finding(speech_like(usual, 8000), text) is None
    assert _finding(speech_like(usual / 10, 8000), text) == "audio_too_short"
    assert _finding(speech_like(usual * 10, 8000), text) == "audio_too_long"


def test_speed_moves_the_bounds() -> None:
    assert _finding(speech_like(1.2, 8000), CHINESE) == "audio_too_short"
    assert _finding(speech_like(1.2, 8000), CHINESE, speed=2.0) is None
    beyond = longest_plausible(CHINESE) + 3
    assert _finding(speech_like(beyond, 8000), CHINESE) == "audio_too_long"
    assert _finding(speech_like(beyond, 8000), CHINESE, speed=0.5) is None


def test_peaks_a_little_beyond_full_scale_are_for_the_limiter_not_a_fault() -> None:
    pcm = speech_like(3.0)
    loud = Pcm((pcm.samples * (1.1 / np.abs(pcm.samples).max())).astype(np.float32), pcm.sample_rate)
    assert _finding(loud, CHINESE) is None


def test_a_full_scale_tone_is_not_taken_for_clipping() -> None:
    pcm = sine(3.0, pitch=100.0, level=1.0)
    whole = Pcm((np.rint(pcm.samples * 32767) / 32768).astype(np.float32), pcm.sample_rate)
    assert _finding(whole, CHINESE) is None


@given(text=st.text(max_size=400), speed=st.floats(0.25, 4.0))
def test_the_bounds_leave_room_between_them(text: str, speed: float) -> None:
    assert 0 < shortest_plausible(text, speed) < longest_plausible(text, speed)


@given(first=st.text(max_size=100), second=st.text(max_size=100))
def test_more_text_never_narrows_the_longest(first: str, second: str) -> None:
    assert longest_plausible(first + second) >= longest_plausible(first)
    assert shortest_plausible(first + second) >= shortest_plausible(first)
