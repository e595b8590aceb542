"""Kokoro-82M (ONNX): Mandarin, English, Japanese and mixtures of them, on a CPU. Loaded by the engine worker.

Option `voices` (REFRAIN_KOKORO_VOICES) names a directory of voices to add to the packaged ones; `directory`
(REFRAIN_KOKORO_DIR) a Kokoro v1.0 directory of the user's own to take in place of all that is packaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synth.engines._phonemes import cut
from synth.engines._requests import check, loading, version_digest
from synth.engines._waveform import SAMPLE_RATE, joined, limited, trimmed
from synth.engines.base import NO_OPTIONS
from synth.errors import EngineUnavailable
from synth.types import EngineCard, Manner, Pcm, Segment, SpeedRange, Voice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from synth.engines._kokoro_weights import Weights

NAME = "kokoro"
# Raise it with every change here or in the modules of this folder that changes the sound of any text.
ADAPTER_VERSION = "1"
LANGUAGES = ("zh", "en", "ja")
MAX_PHONEMES = 510
# Past about 400 phonemes the model begins to rush: longer texts are cut there, not at the limit.
COMFORTABLE_PHONEMES = 400
PAUSE_AT_CUT = 0.15
_LANGUAGE_OF_PREFIX = {"a": "en", "b": "en", "j": "ja", "z": "zh"}
# Best first, by the character error rate of a recogniser that listens to everyday sentences.
_PREFERRED = {
    "zh": ("zf_xiaoyi", "zf_xiaobei", "zf_xiaoxiao", "zm_yunxi", "zm_yunyang", "zm_yunxia", "zm_yunjian", "jm_kumo"),
    "en": ("af_heart", "bf_emma", "jf_gongitsune"),
    "ja": ("jf_alpha",),
}
_WARM_UP = (("zh", "你好，世界。"), ("en", "Hello, world."), ("ja", "こんにちは、世界。"))


class Kokoro:
    """One loaded model. The same segment gives the same samples: the model takes no random numbers."""

    def __init__(self, *, threads: int = 1, options: Mapping[str, str] = NO_OPTIONS) -> None:
        with loading(NAME):
            from synth.engines import _kokoro_phonemes

            weights = _weights(options)
            self._phonemise = _kokoro_phonemes.Phonemiser(weights.vocab)
            self._session = _session(weights.model, threads)
            self._inputs = {entry.name: entry.type for entry in self._session.get_inputs()}
            packages = ("onnxruntime", *_kokoro_phonemes.PACKAGES)
            version = version_digest(ADAPTER_VERSION, weights.digest, str(threads), packages=packages)
        self._vocab, self._styles = weights.vocab, weights.styles
        self._card = _card(weights, version)
        for language, text in _WARM_UP:
            self._speak(text, language, voice=self._card.default_voices[language], speed=1.0)

    @property
    def card(self) -> EngineCard:
        return self._card

    def synthesize(self, segment: Segment) -> Pcm:
        """Raises Permanent for text that has no sound here and for voices or controls that the card lacks."""
        language = check(segment, self._card)
        manner: Manner = segment.manner
        samples = self._speak(segment.text, language, voice=manner.voice, speed=manner.speed)
        return Pcm(samples, SAMPLE_RATE)

    def _speak(self, text: str, language: str, *, voice: str, speed: float) -> NDArray[np.float32]:
        pieces = cut(self._phonemise(text, language), COMFORTABLE_PHONEMES)
        sounds = [trimmed(self._infer(piece, voice=voice, speed=speed)) for piece in pieces]
        return limited(joined(sounds, pause=PAUSE_AT_CUT / speed))

    def _infer(self, phonemes: str, *, voice: str, speed: float) -> NDArray[np.float32]:
        import numpy as np

        tokens = [self._vocab[phoneme] for phoneme in phonemes]
        style = self._styles[voice]
        given = {
            "style": style[min(len(tokens), len(style)) - 1].reshape(1, -1),
            "speed": np.array([speed], np.float32),
        }
        # Exports differ in the name of this one.
        given["input_ids" if "input_ids" in self._inputs else "tokens"] = np.array([[0, *tokens, 0]], np.int64)
        samples: NDArray[np.float32] = self._session.run(None, given)[0]
        return np.asarray(samples, np.float32).reshape(-1)


ENGINE = Kokoro


def _weights(options: Mapping[str, str]) -> Weights:
    from synth.engines import _kokoro_weights

    if own := options.get("directory"):
        return _kokoro_weights.from_directory(Path(own))
    packaged = _kokoro_weights.packaged()
    added = options.get("voices")
    return _kokoro_weights.with_voices(packaged, Path(added)) if added else packaged


def _session(model: bytes, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Lengths differ with each sentence, so a plan of memory made for one is of no use to the next.
    options.enable_mem_pattern = False
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EngineUnavailable(f"{NAME}'s model cannot be loaded: {error}") from error


def _card(weights: Weights, version: str) -> EngineCard:
    from synth.engines._kokoro_weights import fingerprint

    voices = tuple(_voice(name, fingerprint(style)) for name, style in sorted(weights.styles.items()))
    return EngineCard(
        name=NAME,
        model_version=version,
        sample_rate=SAMPLE_RATE,
        languages=LANGUAGES,
        scripts=("Hani", "Hira", "Kana", "Latn"),
        voices=voices,
        default_voices={language: _default_voice(language, voices) for language in LANGUAGES},
        priority=100,
        max_units=320,
        speed=SpeedRange(0.7, 1.5),
        deterministic=True,
        limits={"max_phonemes": MAX_PHONEMES},
    )


def _voice(name: str, fingerprint: str) -> Voice:
    """Any voice speaks any language; the one it was recorded in comes first."""
    native = _LANGUAGE_OF_PREFIX.get(name[0])
    languages = tuple(sorted(LANGUAGES, key=lambda language: language != native))
    gender = {"f": "female", "m": "male"}.get(name[1:2], "")
    return Voice(name, NAME, fingerprint, languages, name.partition("_")[2].replace("_", " ").title() or name, gender)


def _default_voice(language: str, voices: tuple[Voice, ...]) -> str:
    names = [voice.name for voice in voices]
    preferred = [name for name in _PREFERRED[language] if name in names]
    native = [voice.name for voice in voices if voice.languages[0] == language]
    return (*preferred, *native, *names)[0]
