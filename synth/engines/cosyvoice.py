"""CosyVoice: the 300M models, CosyVoice 2 and 3, by the directory of one. Loaded by an engine worker of its own.

Upstream's code and a model are the operator's to install; docs/engines/cosyvoice.md says how, and what was tried.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from synth.engines import _cosyvoice_text as wording
from synth.engines._cosyvoice_model import CLONING, INSTRUCT, Place, digest, place
from synth.engines._cosyvoice_speakers import LONGEST, Speakers
from synth.engines._cosyvoice_upstream import Upstream
from synth.engines._cosyvoice_voices import NAME, default_voices, languages_of, voice_of
from synth.engines._cosyvoice_ways import FIRST, THIRD, Way, cloned, own
from synth.engines._requests import loading, version_digest
from synth.engines._scripts import Unspeakable
from synth.engines.base import NO_OPTIONS, NO_REFERENCES
from synth.errors import Permanent, Retryable
from synth.types import Cloning, EngineCard, Manner, Pcm, Reference, Segment, SpeedRange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Raise it with every change here or in the modules of this folder that changes the sound of any text.
ADAPTER_VERSION = "1"
PACKAGES = ("torch", "torchaudio", "transformers", "onnxruntime")
DEFAULT_SEED = 0
WARM_UP = "你好，世界。"


class CosyVoice:
    """One loaded model. What it cannot do by itself is refused before upstream is asked."""

    def __init__(self, *, threads: int = 1, options: Mapping[str, str] = NO_OPTIONS) -> None:
        self._place = place(options)
        with loading(NAME, requirements="requirements/torch.txt"):
            self._upstream = Upstream(self._place, threads=threads)
            version = _version(self._place, self._upstream)
        self._speakers = Speakers(self._upstream)
        self._card = _card(self._place, self._upstream, version)
        self._warm_up()

    @property
    def card(self) -> EngineCard:
        return self._card

    def synthesize(self, segment: Segment, references: Mapping[str, Reference] = NO_REFERENCES) -> Pcm:
        """Raises Permanent for what the card does not offer, Retryable for what another run or seed may pass."""
        import numpy as np

        made = [piece.samples for piece in self.stream(segment, references)]
        return Pcm(np.concatenate(made), self._upstream.sample_rate)

    def stream(self, segment: Segment, references: Mapping[str, Reference]) -> Iterator[Pcm]:
        """Sentence by sentence; where the setting says so, and at normal speed, in upstream's smaller pieces."""
        for samples in self._speak(segment, references):
            yield Pcm(samples, self._upstream.sample_rate)

    @property
    def device(self) -> str:
        """As torch calls it, with the name of a GPU."""
        return self._upstream.device

    def device_memory(self) -> int:
        """Bytes that this process holds of a GPU."""
        return self._upstream.device_memory()

    def release_memory(self) -> None:
        """Drop what was worked out of references, and what torch keeps for later use."""
        self._speakers.forget_all()
        self._upstream.free_memory()

    def unload(self) -> None:
        """Drop the model. The engine is of no use afterwards."""
        upstream = self._upstream
        self._upstream = self._speakers = None  # type: ignore[assignment]
        upstream.unload()

    def _speak(self, segment: Segment, references: Mapping[str, Reference]) -> Iterator[NDArray[np.float32]]:
        manner = segment.manner
        language = wording.language_of(manner, self._card)
        texts = self._texts(segment.text, language)
        way = self._way(manner, language, references)
        # Upstream changes the speed of what is whole only.
        stream = self._place.stream and manner.speed == 1.0
        some = False
        with self._speakers.speaking(way) as named:
            # After the reference was worked out, so that a repetition, which needs not, draws the same numbers.
            self._upstream.seed(DEFAULT_SEED if manner.seed is None else manner.seed)
            for samples in self._upstream.speak(way, texts, named=named, speed=manner.speed, stream=stream):
                if len(samples):
                    some = True
                    yield _sound(samples)
        if not some:
            raise Retryable("CosyVoice gave no sound; with another seed it may", code="no_speech")

    def _texts(self, text: str, language: str) -> list[str]:
        wording.refuse_unspeakable(text)
        katakana = self._place.family == THIRD and language == "ja"
        texts = self._upstream.split(wording.katakana(text) if katakana else text)
        if not texts:
            raise Unspeakable("CosyVoice finds nothing to say in the text")
        return texts

    def _way(self, manner: Manner, language: str, references: Mapping[str, Reference]) -> Way:
        """Raises Permanent for a voice that there is not, and for what a voice cannot do."""
        instruction = wording.instruction_of(manner)
        if reference := references.get(manner.voice_fingerprint):
            return self._like(reference, language=language, instruction=instruction)
        voice = next((voice for voice in self._card.voices if voice.name == manner.voice), None)
        if voice is None:
            raise Permanent(f"{NAME} has no voice {manner.voice}", code="unknown_voice")
        if language not in voice.languages:
            raise Permanent(f"{voice.name} does not speak {manner.language}", code="unsupported_language")
        speaker = self._upstream.speakers[voice.name]
        if language == "yue" and language != voice.languages[0]:
            instruction = f"{wording.CANTONESE[self._place.family]} {instruction}".strip()
        return own(self._place.family, voice.name, speaker, instruction)

    def _like(self, reference: Reference, *, language: str, instruction: str) -> Way:
        cloning = self._card.cloning
        if cloning is None:
            raise Permanent(f"this model of {NAME} speaks like no reference", code="unsupported_voice")
        if reference.transcript:
            wording.refuse_unspeakable(reference.transcript)
            said = self._upstream.written_out(reference.transcript)
            reference = dataclasses.replace(reference, transcript=said)
        speaker = self._speakers.extract(reference)
        return cloned(self._place.family, speaker, reference, language=language, instruction=instruction)

    def _warm_up(self) -> None:
        """In the first voice, or like a hum: the first run of a model is a slow one."""
        if self._card.voices:
            voice = self._card.voices[0].name
            way = own(self._place.family, voice, self._upstream.speakers[voice], "")
        else:
            way = self._like(_hum(), language="zh", instruction="")
        with self._speakers.speaking(way) as named:
            for _ in self._upstream.speak(way, self._upstream.split(WARM_UP), named=named, speed=1.0, stream=False):
                pass


ENGINE = CosyVoice


def _sound(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    if not np.isfinite(samples).all():
        raise Retryable("CosyVoice gave samples that are no numbers", code="no_speech")
    return np.clip(samples, -1.0, 1.0).astype(np.float32, copy=False)


def _hum() -> Reference:
    import numpy as np

    at = np.arange(3 * 24_000) / 24_000
    samples = (0.1 * np.sin(2 * np.pi * 150 * at) * np.sin(2 * np.pi * 3 * at)).astype(np.float32)
    return Reference("hum", Pcm(samples, 24_000), "zh")


def _version(where: Place, upstream: Upstream) -> str:
    """Of all that changes the sound; numbers are read out by whichever front end is installed."""
    reader = upstream.frontend.text_frontend
    packages = (*PACKAGES, reader) if reader == "wetext" else PACKAGES
    settings = f"{where.variant} fp16={upstream.fp16} stream={where.stream} {reader}"
    return version_digest(ADAPTER_VERSION, digest(where), settings, packages=packages)


def _card(where: Place, upstream: Upstream, version: str) -> EngineCard:
    spoken = languages_of(where.family)
    speakers = upstream.speakers
    voices = tuple(voice_of(name, speakers[name], spoken, family=where.family) for name in sorted(speakers))
    clones = where.variant == CLONING
    languages = tuple(language for language in spoken if clones or any(language in voice.languages for voice in voices))
    instructed = where.variant == INSTRUCT or where.family != FIRST
    controls = {"instruction": instructed, "seed": not where.stream}
    return EngineCard(
        name=NAME,
        model_version=version,
        sample_rate=upstream.sample_rate,
        languages=languages,
        scripts=wording.SCRIPTS,
        voices=voices,
        default_voices=default_voices(languages, voices),
        priority=40,
        max_units=320,  # 80 Chinese characters: longer ones upstream cuts
        speed=SpeedRange(0.5, 2.0),
        controls=frozenset(name for name, has in controls.items() if has),
        cloning=Cloning(languages=spoken, maximum=LONGEST) if clones else None,
        # In streaming two threads draw from one generator; of a GPU nobody has tried it.
        deterministic=not where.stream and not upstream.on_gpu,
        limits={"model": where.family, "variant": where.variant, "streaming": where.stream},
    )
