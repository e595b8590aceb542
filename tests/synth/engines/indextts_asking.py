"""Segments for IndexTTS, and the engine with one voice of a tenant's, as a worker uses it."""

from dataclasses import replace
from typing import Any

from synth.engines.base import Engine
from synth.engines.indextts import NAME, IndexTTS
from synth.types import EngineCard, Manner, Pcm, Reference, Segment, Voice
from tests.synth.engines.speaking import SENTENCES

TEXT = "今天我们去公园散步吧。"


def segment(speaker: Reference, text: str = TEXT, *, language: str = "zh", **manner: Any) -> Segment:
    given = {"model_version": "sha256:0123456789abcdef", "normaliser": 1, "splitter": 1} | manner
    return Segment(
        Manner(engine=NAME, voice="anna", voice_fingerprint=speaker.fingerprint, language=language, **given), text
    )


def said(engine: IndexTTS, speaker: Reference, *args: Any, others: tuple[Reference, ...] = (), **manner: Any) -> Pcm:
    """What the engine says, given the speaker and other references."""
    known = {item.fingerprint: item for item in (speaker, *others)}
    return engine.synthesize(segment(speaker, *args, **manner), known)


class WithOneVoice(Engine):
    """The engine and a tenant who has a voice, so that the contract of the engines with voices can be asked of it."""

    def __init__(self, engine: IndexTTS, speaker: Reference) -> None:
        self._engine, self._speaker = engine, speaker
        languages = tuple(language for language in engine.card.languages if language in SENTENCES)
        voice = Voice("anna", NAME, speaker.fingerprint, languages)
        defaults = dict.fromkeys(languages, voice.name)
        self._card = replace(engine.card, languages=languages, voices=(voice,), default_voices=defaults)

    @property
    def card(self) -> EngineCard:
        return self._card

    def synthesize(self, segment: Segment) -> Pcm:
        references = {self._speaker.fingerprint: self._speaker} if segment.manner.voice == "anna" else {}
        return self._engine.synthesize(segment, references)
