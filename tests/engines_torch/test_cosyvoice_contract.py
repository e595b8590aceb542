"""The contract of every engine, over upstream's real CosyVoice code of all three versions on tiny checkpoints."""

import pytest

from synth.engines.base import Engine
from tests.engines_torch.cosyvoice import VERSIONS, Tiny, tiny
from tests.synth.engines.test_engine_contract import (
    test_a_seed_changes_the_sound_and_repeats_it,
    test_a_speed_out_of_range_is_refused,
    test_a_text_far_over_the_limit_is_spoken_to_its_end,
    test_each_language_is_spoken,
    test_equal_segments_give_equal_samples,
    test_letters_of_another_script_are_refused_and_never_dropped,
    test_speed_changes_the_duration_by_about_its_factor,
    test_text_without_a_sound_is_refused,
    test_the_card_can_be_written_as_json,
    test_the_card_is_complete,
    test_voices_that_sound_different_have_different_fingerprints,
    test_what_the_card_does_not_offer_is_refused,
)

__all__ = [
    "test_a_seed_changes_the_sound_and_repeats_it",
    "test_a_speed_out_of_range_is_refused",
    "test_a_text_far_over_the_limit_is_spoken_to_its_end",
    "test_each_language_is_spoken",
    "test_equal_segments_give_equal_samples",
    "test_letters_of_another_script_are_refused_and_never_dropped",
    "test_speed_changes_the_duration_by_about_its_factor",
    "test_text_without_a_sound_is_refused",
    "test_the_card_can_be_written_as_json",
    "test_the_card_is_complete",
    "test_voices_that_sound_different_have_different_fingerprints",
    "test_what_the_card_does_not_offer_is_refused",
    "tiny",
]


@pytest.fixture(params=VERSIONS)
def engine(request: pytest.FixtureRequest, tiny: Tiny) -> Engine:
    return tiny.engine(request.param)
