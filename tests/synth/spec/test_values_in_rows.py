"""Values come back from rows as they were written, also through JSON text and from a newer version of Refrain."""

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from synth import codec
from synth.keys import rendition_key
from synth.types import Emotion, EngineCard, Manner, Output, Pronunciation, Segment, Spec, SpeedRange, Voice

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
NUMBERS = st.floats(-1000, 1000).map(lambda value: round(value, 3))
MAYBE_WORDS = st.none() | WORDS
EMOTIONS = st.builds(
    Emotion, MAYBE_WORDS, st.none() | st.lists(NUMBERS, max_size=4).map(tuple), MAYBE_WORDS, MAYBE_WORDS, NUMBERS
)
MANNERS = st.builds(
    Manner,
    engine=WORDS,
    model_version=WORDS,
    voice=WORDS,
    voice_fingerprint=WORDS,
    language=WORDS,
    speed=NUMBERS,
    duration=st.none() | NUMBERS,
    emotion=st.none() | EMOTIONS,
    pronunciations=st.lists(st.builds(Pronunciation, WORDS, WORDS, WORDS), max_size=3).map(tuple),
    seed=st.none() | st.integers(0, 2**32 - 1),
    options=st.lists(st.tuples(WORDS, WORDS), max_size=3).map(tuple),
    normaliser=st.integers(0, 99),
    splitter=st.integers(0, 99),
    encryption_key_id=MAYBE_WORDS,
)
OUTPUTS = st.builds(
    Output,
    format=WORDS,
    sample_rate=st.integers(1, 96_000),
    bitrate=st.none() | st.integers(1, 320),
    loudness=NUMBERS,
    pause_ms=st.integers(0, 1000),
)
SPECS = st.builds(Spec, MANNERS, WORDS, OUTPUTS)
VOICES = st.builds(Voice, WORDS, WORDS, WORDS, st.lists(WORDS, max_size=2).map(tuple), WORDS, WORDS)
CARDS = st.builds(
    EngineCard,
    name=WORDS,
    model_version=WORDS,
    sample_rate=st.integers(1, 96_000),
    languages=st.lists(WORDS, max_size=2).map(tuple),
    scripts=st.lists(WORDS, max_size=2).map(tuple),
    voices=st.lists(VOICES, max_size=2).map(tuple),
    default_voices=st.dictionaries(WORDS, WORDS, max_size=2),
    priority=st.integers(0, 200),
    max_units=st.integers(1, 900),
    speed=st.none() | st.builds(SpeedRange, NUMBERS, NUMBERS),
    controls=st.frozensets(WORDS, max_size=3),
    emotions=st.lists(WORDS, max_size=2).map(tuple),
    deterministic=st.booleans(),
    limits=st.dictionaries(WORDS, st.integers(0, 9) | WORDS, max_size=2),
)

FEW = settings(max_examples=30, deadline=None)


def through_json(value: object) -> object:
    return orjson.loads(orjson.dumps(codec.to_json(value)))


@FEW
@given(SPECS)
def test_a_spec_comes_back_with_its_key(spec: Spec) -> None:
    back = codec.from_json(Spec, through_json(spec))
    assert back == spec
    assert rendition_key(back) == rendition_key(spec)


@FEW
@given(st.builds(Segment, MANNERS, WORDS))
def test_a_segment_comes_back(segment: Segment) -> None:
    assert codec.from_json(Segment, through_json(segment)) == segment


@FEW
@given(CARDS)
def test_an_engine_card_comes_back(card: EngineCard) -> None:
    assert codec.from_json(EngineCard, through_json(card)) == card


@FEW
@given(SPECS)
def test_fields_of_a_newer_version_are_passed_over(spec: Spec) -> None:
    data = codec.to_json(spec)
    data["later"] = 1
    data["manner"]["later"] = {"x": [1]}
    data["output"]["later"] = "x"
    assert codec.from_json(Spec, data) == spec


@FEW
@given(SPECS)
def test_a_database_may_write_whole_numbers_without_a_point(spec: Spec) -> None:
    data = codec.to_json(spec)
    output = data["output"]
    output["loudness"] = int(output["loudness"]) if output["loudness"].is_integer() else output["loudness"]
    assert rendition_key(codec.from_json(Spec, data)) == rendition_key(spec)
