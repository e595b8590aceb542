"""What the engine tests share: the installed engines, one sentence a language, and segments made from a card."""

import os
from functools import cache

from synth.engines.base import NO_OPTIONS, Engine
from synth.errors import EngineUnavailable
from synth.extensions import Broken, ExtensionPoint
from synth.types import EngineCard, Manner, Segment
from tests.servers.speech import SpeechServer

PACKAGES = tuple(os.environ.get("REFRAIN_ENGINE_PACKAGES", "synth.engines").split(","))
ENGINES = ExtensionPoint(*PACKAGES)
SENTENCES = {
    "zh": "今天我们去公园散步吧。",
    "en": "Let us walk in the park.",
    "ja": "公園を散歩しましょう。",
    "yue": "今日我哋去公園散步啦。",
    "ko": "오늘은 공원을 산책하자.",
}
FOREIGN = {"Hani": "你好", "Hira": "ありがとう", "Kana": "カタカナ", "Latn": "hello", "Hang": "안녕", "Cyrl": "привет"}


@cache
def loaded(name: str) -> Engine:
    """The engine as it is packaged, loaded once a test run with one thread."""
    options = speech_server().options() if name == "openai_http" else NO_OPTIONS
    engine: Engine = ENGINES.load(name).ENGINE(threads=1, options=options)
    return engine


@cache
def speech_server() -> SpeechServer:
    """For the engine that speaks by a server; it ends with the test run."""
    return SpeechServer().start()


@cache
def missing(name: str) -> str:
    """Why an engine cannot be tested here; empty when it can."""
    module = ENGINES.load_or_broken(name)
    if isinstance(module, Broken):
        return module.reason
    try:
        loaded(name)
    except EngineUnavailable as error:
        return error.detail
    return ""


def segment(card: EngineCard, text: str, *, language: str, speed: float = 1.0, seed: int | None = None) -> Segment:
    """A segment in the card's default voice of the language."""
    voice = next(voice for voice in card.voices if voice.name == card.default_voices[language])
    manner = Manner(
        engine=card.name,
        model_version=card.model_version,
        voice=voice.name,
        voice_fingerprint=voice.fingerprint,
        language=language,
        speed=speed,
        seed=seed,
        normaliser=1,
        splitter=1,
    )
    return Segment(manner, text)
