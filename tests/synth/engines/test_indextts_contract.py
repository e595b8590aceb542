"""What every engine must keep, asked of IndexTTS's adapter over a stand-in for upstream; with a tenant's voice."""

import numpy as np
import pytest

from synth.engines.base import Engine
from synth.engines.indextts import IndexTTS
from tests.synth.engines import indextts_double as double
from tests.synth.engines.indextts_asking import WithOneVoice

# ruff: noqa: F401 - the tests are collected here, with this module's engine
from tests.synth.engines.test_engine_contract import (
    test_a_seed_changes_the_sound_and_repeats_it,
    test_a_speed_out_of_range_is_refused,
    test_a_text_far_over_the_limit_is_spoken_to_its_end,
    test_equal_segments_give_equal_samples,
    test_letters_of_another_script_are_refused_and_never_dropped,
    test_speed_changes_the_duration_by_about_its_factor,
    test_text_without_a_sound_is_refused,
    test_the_card_can_be_written_as_json,
    test_what_the_card_does_not_offer_is_refused,
)


@pytest.fixture(scope="module", params=sorted(double.RELEASES))
def engine(request: pytest.FixtureRequest) -> Engine:
    return WithOneVoice(IndexTTS(double.loaded(request.param)), double.reference(200))


def test_the_card_offers_cloning_and_no_voice_of_its_own() -> None:
    card = IndexTTS(double.loaded("2")).card
    assert card.voices == ()
    assert card.cloning is not None
    assert card.cloning.maximum == 15
    assert not card.cloning.needs_transcript
    assert card.model_version.startswith("sha256:")
    assert card.speed is None
    assert "duration" not in card.controls
    assert IndexTTS(double.loaded("2.5")).card.speed is not None


def test_samples_are_within_full_scale(engine: Engine) -> None:
    from tests.synth.engines.test_engine_contract import spoken

    samples = spoken(engine, "zh").samples
    assert samples.dtype == np.float32
    assert samples.ndim == 1
    assert 0.1 < np.abs(samples).max() <= 1
