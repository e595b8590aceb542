"""An engine is given the settings that are its own, and no other engine's."""

from collections.abc import Mapping

import pytest

from synth import wiring
from tests.engines.counting import CountingEngine

OWN = {"model": "large"}


@pytest.mark.parametrize(
    ("options", "given"), [({"counting": OWN, "kokoro": {"voices": "/elsewhere"}}, OWN), ({"kokoro": OWN}, {})]
)
def test_an_engine_gets_its_own_options(
    settings, options: Mapping[str, Mapping[str, str]], given: Mapping[str, str]
) -> None:
    own = {"ENGINE_PACKAGES": ["synth.engines", "tests.engines"], "ENGINE_OPTIONS": options}
    settings.REFRAIN = {**settings.REFRAIN, **own}
    engine = wiring.load_engine("counting")
    assert isinstance(engine, CountingEngine)
    assert engine.options == given


def test_the_settings_name_the_options_of_the_engines_in_the_tree(settings) -> None:
    assert set(settings.REFRAIN["ENGINE_OPTIONS"]["kokoro"]) == {"directory", "voices"}
