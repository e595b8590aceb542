"""An engine is given the settings that are its own, and no other engine's."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from synth import wiring
from synth.engines._speech_options import read_options
from tests.engines.counting import CountingEngine
from tests.test_settings import settings_with

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


def test_a_key_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-secret\n")
    told = settings_with({"REFRAIN_OPENAI_API_KEY_FILE": str(tmp_path / "key")})
    assert told["REFRAIN"]["ENGINE_OPTIONS"]["openai_http"]["api_key"] == "sk-secret"


def test_the_defaults_of_the_settings_are_those_of_the_engine(settings) -> None:
    given = settings.REFRAIN["ENGINE_OPTIONS"]["openai_http"] | {"base_url": "http://speech.example"}
    assert read_options(given) == read_options({"base_url": "http://speech.example"})
