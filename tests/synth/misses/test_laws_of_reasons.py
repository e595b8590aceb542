"""Laws of the reasons of misses: which comes first, what differs, and which texts are alike."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.cache.misses import (
    FOLLOWS,
    OURS,
    TEXT,
    Facts,
    Neighbour,
    Standing,
    differing,
    judge,
    likeness,
    needs_neighbours,
    standing,
)
from synth.metrics import MissReason
from synth.types import CacheMode, Manner, Output, Spec

SPEC = Spec(
    Manner(
        engine="counting", model_version="1", voice="a", voice_fingerprint="fa", language="en", normaliser=1, splitter=1
    ),
    "Your appointment is at 14:05.",
    Output(format="mp3", sample_rate=24_000, bitrate=64, loudness=-16.0, pause_ms=250),
)
MANNERS = {
    "engine": "other", "model_version": "2", "voice": "b", "voice_fingerprint": "fb", "language": "zh", "speed": 1.5,
    "duration": 3.0, "seed": 7, "normaliser": 2, "splitter": 2, "options": (("top_p", "0.8"),),
}  # fmt: skip
OUTPUTS = {"format": "wav", "sample_rate": 16_000, "bitrate": 96, "loudness": -20.0, "pause_ms": 100}
NAMES = sorted({**MANNERS, **OUTPUTS})
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TEXTS = st.text(st.sampled_from("ab Z9０1_-.,:/你一é"), max_size=60)


def changed(names: set[str], *, spec: Spec = SPEC) -> Spec:
    manner = replace(spec.manner, **{name: MANNERS[name] for name in names if name in MANNERS})
    return replace(spec, manner=manner, output=replace(spec.output, **{n: OUTPUTS[n] for n in names if n in OUTPUTS}))


def neighbour(names: set[str], *, number: int = 1, same_text: bool = True) -> Neighbour:
    return Neighbour(UUID(int=number), changed(names), same_text)


def parameters(*args, **kwargs) -> list[str]:
    return [item.parameter for item in differing(*args, **kwargs)]


# --- What differs -----------------------------------------------------------------------------------------------------


@given(st.sets(st.sampled_from(NAMES)))
def test_every_parameter_that_differs_is_named_or_follows_from_one_that_is(names: set[str]):
    found = set(parameters(SPEC, changed(names), same_text=True))
    following = {name for cause in names for name in FOLLOWS.get(cause, ())}
    assert found == names - following
    assert bool(found) == bool(names)


@given(st.sets(st.sampled_from(NAMES)), st.booleans())
def test_what_differs_differs_both_ways(names: set[str], same_text: bool):
    there, back = (
        differing(SPEC, changed(names), same_text=same_text),
        differing(changed(names), SPEC, same_text=same_text),
    )
    assert [(d.parameter, d.value, d.other) for d in there] == [(d.parameter, d.other, d.value) for d in back]


def test_values_are_told_but_for_words_of_the_tenant():
    (seed,) = differing(changed({"seed"}), SPEC, same_text=True)
    assert (seed.value, seed.other) == (7, None)
    (options,) = differing(changed({"options"}), SPEC, same_text=True)
    assert (options.value, options.other) == (None, None)


# --- Which reason -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"cache": CacheMode.BYPASS, "degraded": True, "standing": Standing.PURGED}, MissReason.BYPASSED),
        ({"cache": CacheMode.REFRESH, "stored": False}, MissReason.BYPASSED),
        ({"cache": CacheMode.REFRESH, "degraded": True, "standing": Standing.KEPT}, MissReason.REFRESHED),
        ({"degraded": True, "standing": Standing.PURGED}, MissReason.DEGRADED),
        ({"standing": Standing.PURGED, "older_model": True}, MissReason.PURGED),
        ({"standing": Standing.LOST}, MissReason.EVICTED),
        ({"standing": Standing.KEPT}, MissReason.EXPIRED),
        ({"older_model": True}, MissReason.MODEL_CHANGED),
        ({}, MissReason.FIRST_SEEN),
    ],
)
def test_the_first_reason_that_holds_is_the_one(facts: dict, reason: MissReason):
    judged = Facts(spec=SPEC, neighbours=(neighbour({"seed"}),) if reason != MissReason.FIRST_SEEN else (), **facts)
    assert judge(judged).reason is reason
    assert needs_neighbours(judged) is (reason is MissReason.FIRST_SEEN)


@given(st.sets(st.sampled_from(NAMES), min_size=1), st.booleans())
def test_where_we_alone_changed_the_model_did_else_it_is_a_near_miss(names: set[str], same_text: bool):
    verdict = judge(Facts(spec=SPEC, neighbours=(neighbour(names, same_text=same_text),)))
    found = {item.parameter for item in verdict.differences}
    expected = MissReason.MODEL_CHANGED if found <= OURS else MissReason.NEAR_MISS
    assert verdict.reason is expected
    assert (TEXT in found) is not same_text


@given(st.lists(st.sets(st.sampled_from(NAMES), max_size=4), max_size=6))
def test_the_nearest_is_told_and_of_equals_the_newest(others: list[set[str]]):
    neighbours = tuple(neighbour(names, number=number) for number, names in enumerate(others))
    verdict = judge(Facts(spec=SPEC, neighbours=neighbours))
    sizes = [(len(differing(SPEC, item.spec, same_text=True)), item.id) for item in neighbours]
    sizes = [pair for pair in sizes if pair[0]]
    assert verdict.nearest == (min(sizes)[1] if sizes else None)
    assert (verdict.reason is MissReason.FIRST_SEEN) is (not sizes)


@given(st.lists(st.sampled_from(["speed", "seed"]), max_size=3), st.booleans())
def test_the_same_kept_before_is_expired_whatever_came_since(others: list[str], was_kept: bool):
    same = Neighbour(UUID(int=9), SPEC, same_text=True, was_kept=was_kept)
    found = judge(Facts(spec=SPEC, neighbours=(*(neighbour({name}) for name in others), same)))
    assert (found.reason is MissReason.EXPIRED) is was_kept


@given(st.integers(-3, 3), st.none() | st.integers(-3, 3), st.booleans())
def test_the_catalogue_counts_as_it_stood_then(created: int, purged: int | None, lost: bool):
    at = {number: NOON + timedelta(seconds=number) for number in range(-3, 4)}
    found = standing(NOON, created=at[created], purged=None if purged is None else at[purged], lost=lost)
    assert (found is Standing.ABSENT) is (created > 0)
    if created <= 0:
        assert (found is Standing.PURGED) is (purged is not None and purged <= 0)


# --- Texts that are alike ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Your appointment is at 14:05.", "Your appointment is at 9:30."),
        ("会议将于14:05开始，请准时参加。", "会议将于9点开始，请准时参加。".replace("9点", "9:07")),
        ("It is 2026-11-30 14:05 now, good day.", "It is 2026-12-01 9:07:22 now, good day."),
        ("Thank you for order 3f9a-77b1, it is on its way.", "Thank you for order a1, it is on its way."),
        ("Balance: 1,234.50 euros as of today", "Balance: 7 euros as of today"),
        ("现在是１４点，欢迎光临", "现在是９点，欢迎光临"),
    ],
)
def test_texts_that_differ_in_numbers_alone_are_alike(one: str, other: str):
    assert one != other
    assert likeness(replace(SPEC, text=one)) == likeness(replace(SPEC, text=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Your appointment is at 14:05.", "Your train is at 14:05."),
        ("12345", "54321"),  # nothing but numbers: other words
        ("1. 2. 3.", "1. 2. 4."),
        ("Room 1", "room 1"),
        ("你好。", "您好。"),
    ],
)
def test_other_texts_are_not(one: str, other: str):
    assert likeness(replace(SPEC, text=one)) != likeness(replace(SPEC, text=other))


@given(TEXTS)
def test_the_same_text_is_alike_whatever_else_differs(text: str):
    assert likeness(replace(SPEC, text=text)) == likeness(replace(changed(set(NAMES)), text=text))
    assert len(likeness(replace(SPEC, text=text))) == 32


@given(st.text(st.sampled_from("abcdefgh ,"), min_size=30, max_size=60), st.integers(0, 999), st.integers(0, 999))
def test_a_number_anywhere_makes_no_difference(words: str, one: int, other: int):
    def said(number: int) -> str:
        return f"{words[:15]} {number} {words[15:]}"

    assert likeness(replace(SPEC, text=said(one))) == likeness(replace(SPEC, text=said(other)))


def test_nothing_of_a_text_is_noted_for_a_tenant_with_a_key_of_its_own():
    assert likeness(replace(SPEC, manner=replace(SPEC.manner, encryption_key_id="own_1"))) == ""
    assert likeness(replace(SPEC, manner=replace(SPEC.manner, encryption_key_id="dek_1"))) == likeness(SPEC)
