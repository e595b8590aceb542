"""Each input that changes the sound changes the key. A new field of a Spec without a case here fails."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.keys import rendition_key, segment_key
from synth.types import Emotion, Manner, Output, Pronunciation, Segment, Spec

MANNER = Manner(
    engine="able",
    model_version="1",
    voice="anna",
    voice_fingerprint="print",
    language="en",
    speed=1.25,
    duration=2.0,
    emotion=Emotion(name="happy", strength=0.5),
    pronunciations=(Pronunciation("重", "pinyin", "chong2"),),
    seed=7,
    options=(("a", "b"),),
    normaliser=1,
    splitter=1,
    encryption_key_id="k1",
)
OUTPUT = Output(format="mp3", sample_rate=24_000, bitrate=64, loudness=-16.0, pause_ms=250)
SPEC = Spec(MANNER, "Hello.", OUTPUT)

# Other values of each field, each of which sounds different, or may.
OTHERS: dict[type, dict[str, list[Any]]] = {
    Manner: {
        "engine": ["plain", ""],
        "model_version": ["2", "1 "],
        "voice": ["ben"],
        "voice_fingerprint": ["other"],
        "language": ["zh", "en-GB"],
        "speed": [1.0, 1.251],
        "duration": [None, 2.001],
        "emotion": [None, Emotion(name="sad", strength=0.5)],
        "pronunciations": [(), (Pronunciation("重", "pinyin", "zhong4"),)],
        "seed": [None, 0, 8, 2**32 - 1],
        "options": [(), (("a", "c"),), (("b", "a"),), (("a", "b"), ("c", "d"))],
        "normaliser": [2],
        "splitter": [2],
        "encryption_key_id": [None, "k2"],
    },
    Output: {
        "format": ["wav"],
        "sample_rate": [48_000],
        "bitrate": [None, 96],
        "loudness": [-23.0],
        "pause_ms": [0, 251],
        "duration": [2.0, 2.001],
    },
    Emotion: {
        "name": [None, "sad"],
        "vector": [(0.5,), (0.5, 0.0)],
        "text": ["softly"],
        "reference": ["vox_1"],
        "strength": [0.501, 1.0],
    },
    Pronunciation: {"text": ["长"], "kind": ["alias"], "value": ["zhong4"]},
    Spec: {
        "manner": [replace(MANNER, speed=1.5)],
        "text": ["Hello!", "hello."],
        "output": [replace(OUTPUT, pause_ms=0)],
    },
}


def put_back(kind: type, changed: Any) -> Spec:
    """The whole Spec with one changed part."""
    if kind is Spec:
        return changed
    if kind is Output:
        return replace(SPEC, output=changed)
    if kind is Emotion:
        changed = replace(MANNER, emotion=changed)
    if kind is Pronunciation:
        changed = replace(MANNER, pronunciations=(changed,))
    return replace(SPEC, manner=changed)


PARTS: dict[type, Any] = {
    Manner: MANNER,
    Output: OUTPUT,
    Emotion: MANNER.emotion,
    Pronunciation: MANNER.pronunciations[0],
    Spec: SPEC,
}


def variants() -> Iterator[tuple[type, str, Spec]]:
    for kind, part in PARTS.items():
        for item in fields(kind):
            for value in OTHERS[kind][item.name]:
                yield kind, item.name, put_back(kind, replace(part, **{item.name: value}))


@pytest.mark.parametrize("kind", PARTS)
def test_every_field_has_a_case(kind: type) -> None:
    assert set(OTHERS[kind]) == {item.name for item in fields(kind)}


@pytest.mark.parametrize(
    ("kind", "name", "changed"), [pytest.param(*case, id=f"{case[0].__name__}.{case[1]}") for case in variants()]
)
def test_another_value_gives_another_key(kind: type, name: str, changed: Spec) -> None:
    assert rendition_key(changed) != rendition_key(SPEC), (kind, name)
    same_sentence = changed.manner == SPEC.manner and changed.text == SPEC.text
    keys = [segment_key(Segment(value.manner, value.text)) for value in (changed, SPEC)]
    assert (keys[0] == keys[1]) is same_sentence


def test_all_the_variants_differ_from_each_other() -> None:
    specs = {changed for _, _, changed in variants()} | {SPEC}
    assert len({rendition_key(changed) for changed in specs}) == len(specs)


def test_a_sentence_never_has_the_key_of_a_rendition() -> None:
    assert segment_key(Segment(MANNER, "Hello.")) != rendition_key(SPEC)


CRAFTED = st.text('ab",:[]{}\\\n\u2028 ', max_size=8)


@given(st.lists(st.tuples(CRAFTED, CRAFTED), max_size=3), st.lists(st.tuples(CRAFTED, CRAFTED), max_size=3))
def test_crafted_options_cannot_pass_for_others(first: list[tuple[str, str]], second: list[tuple[str, str]]) -> None:
    keys = [rendition_key(replace(SPEC, manner=replace(MANNER, options=tuple(options)))) for options in (first, second)]
    assert (keys[0] == keys[1]) is (first == second)


@given(CRAFTED, CRAFTED, CRAFTED, CRAFTED)
def test_text_cannot_flow_over_into_another_field(text: str, voice: str, other_text: str, other_voice: str) -> None:
    first = Segment(replace(MANNER, voice=voice), text)
    second = Segment(replace(MANNER, voice=other_voice), other_text)
    assert (segment_key(first) == segment_key(second)) is (first == second)
