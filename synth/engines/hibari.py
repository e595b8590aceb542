"""hibari: English with one voice, about a hundred times faster than Kokoro. Loaded by the engine worker."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from synth.engines._english import English
from synth.engines._phonemes import cut, speakable
from synth.engines._requests import check, loading, version_digest
from synth.engines._scripts import Unspeakable, folded, script_of
from synth.engines._waveform import SAMPLE_RATE, joined, limited, trimmed
from synth.engines.base import NO_OPTIONS
from synth.types import EngineCard, Pcm, Segment, SpeedRange, Voice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "hibari"
# Raise it with every change here or in the modules of this folder that changes the sound of any text.
ADAPTER_VERSION = "1"
VOICE = "heart"  # the one in the package; hibari would download the others
PACKAGES = ("onnxruntime", "hibari-tts", "numpy", "scipy")  # scipy's transform, where it is installed, is hibari's
DEFAULT_SEED = 0
MAX_PHONEMES = 400
PAUSE_AT_CUT = 0.15


class Hibari:
    """One loaded model. Its noise comes from the segment's seed, so equal segments give equal samples."""

    def __init__(self, *, threads: int = 1, options: Mapping[str, str] = NO_OPTIONS) -> None:  # noqa: ARG002 - has none
        with loading(NAME):
            import hibari.voices

            model = hibari.voices.voice_path(VOICE, download_missing=False)
            self._english = English()
            self._model = hibari.Hibari(voice=VOICE, model=model, threads=threads)
            digest = hashlib.sha256(Path(model).read_bytes()).hexdigest()
            version = version_digest(ADAPTER_VERSION, digest, str(threads), packages=PACKAGES)
        self._card = _card(digest, version)
        self._speak("Hello, world.", seed=DEFAULT_SEED, speed=1.0)

    @property
    def card(self) -> EngineCard:
        return self._card

    def synthesize(self, segment: Segment) -> Pcm:
        """Raises Permanent for letters other than Latin ones and for voices or controls that the card lacks."""
        check(segment, self._card)
        seed = DEFAULT_SEED if segment.manner.seed is None else segment.manner.seed
        return Pcm(self._speak(segment.text, seed=seed, speed=segment.manner.speed), SAMPLE_RATE)

    def _speak(self, text: str, *, seed: int, speed: float) -> NDArray[np.float32]:
        plain = folded(text)
        if any(script_of(char) not in {"Latn", "Zyyy"} for char in plain):
            raise Unspeakable("hibari reads Latin letters only")
        pieces = cut(speakable(self._english(plain), self._model.vocab), MAX_PHONEMES)
        sounds = [trimmed(self._model.from_phonemes(piece, speed, seed)) for piece in pieces]
        return limited(joined(sounds, pause=PAUSE_AT_CUT / speed))


ENGINE = Hibari


def _card(digest: str, version: str) -> EngineCard:
    voice = Voice(VOICE, NAME, f"sha256:{digest[:16]}", ("en",), "Heart", "female")
    return EngineCard(
        name=NAME,
        model_version=version,
        sample_rate=SAMPLE_RATE,
        languages=("en",),
        scripts=("Latn",),
        voices=(voice,),
        default_voices={"en": VOICE},
        priority=50,
        max_units=320,
        speed=SpeedRange(0.5, 2.0),
        controls=frozenset({"seed"}),
        deterministic=True,
        limits={"max_phonemes": MAX_PHONEMES},
    )
