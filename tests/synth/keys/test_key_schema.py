"""Keys of fixed values. They change only on purpose: then everything that is stored is made anew."""

from dataclasses import replace

from synth.keys import KEY_SCHEMA, rendition_key, segment_key
from synth.types import Segment
from tests.synth.keys.test_every_input_changes_the_key import MANNER, SPEC

SCHEMA = 1
RENDITION = "0d58bde7831201136c0c5aa77e09d505f1711d3d1404f7c78169f609e118dba2"
SENTENCE = "bdf64a8d18f3a99bc522dfafb4debdd5bf84d5d0b40117eaf7353cbdc4cd0447"
ADVICE = (
    "The keys of equal specs have changed. If that is meant, raise KEY_SCHEMA in synth/keys.py and write them here."
)


def test_the_key_of_a_fixed_rendition_is_fixed() -> None:
    assert (KEY_SCHEMA, rendition_key(SPEC)) == (SCHEMA, RENDITION), ADVICE


def test_the_key_of_a_fixed_sentence_is_fixed() -> None:
    assert (KEY_SCHEMA, segment_key(Segment(MANNER, "Hello."))) == (SCHEMA, SENTENCE), ADVICE


def test_a_field_that_came_later_changes_no_key_until_it_is_set() -> None:
    stretched = replace(SPEC, output=replace(SPEC.output, duration=2.0))
    assert rendition_key(replace(SPEC, output=replace(SPEC.output, duration=None))) == RENDITION
    assert rendition_key(stretched) != RENDITION
