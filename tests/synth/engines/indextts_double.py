"""A stand-in for upstream's IndexTTS2 without torch: its signatures, errors and odd habits, and a tone for a voice.

Written from upstream's behaviour as it was read and run (docs/engines/indextts.md); none of its code is here.
"""

# ruff: noqa: ARG002 - upstream's signatures

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from numpy.typing import NDArray

from synth.engines._indextts_loading import Loaded
from synth.engines._indextts_numbers import Numbers
from synth.engines._indextts_release import TWO, TWO_AND_A_HALF, Release
from synth.types import Pcm, Reference

RATE = 22_050
VOCABULARY = frozenset({"XING2", "HANG2", "YIN2", "CHONG2", "JV2", "LV4", "DE5"})
RARE = "龘"  # no token of the double's for it
DUMB = "说不出"  # with this in the text there is no sound, whatever the seed
FICKLE = "看心情"  # with this, none before the third seed
STARVED = "吃内存"  # with this, memory runs out, as often as `starve` says
WEDGED = "坏显卡"
_PIECES = re.compile(r"[A-Z]+[1-5]|[A-Za-z]+|[0-9]+|\S")


class Draws:
    """The process's random numbers."""

    def __init__(self) -> None:
        self.state = 0
        self.seeds: list[int] = []

    def seed(self, seed: int) -> None:
        self.state = seed
        self.seeds.append(seed)

    def draw(self) -> int:
        self.state = int.from_bytes(hashlib.sha256(str(self.state).encode()).digest()[:8])
        return self.state


class OutOfMemoryError(RuntimeError):
    """As torch has one for CUDA."""


@dataclass(frozen=True)
class Call:
    """What the generator is called with."""

    speaker: str
    text: str
    feeling: str | None
    alpha: float
    vector: list[float] | None
    silence: int
    factor: float = 1.0


class DoubleNumbers:
    """What the adapter asks of torch."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self.freed = 0

    def seed(self, seed: int) -> None:
        self._draws.seed(seed)

    def is_out_of_memory(self, error: BaseException) -> bool:
        return isinstance(error, OutOfMemoryError)

    def is_lost(self, error: BaseException) -> bool:
        return "CUDA error" in str(error)

    def free(self) -> None:
        self.freed += 1

    def held(self) -> int:
        return 0

    def samples(self, sound: Any) -> NDArray[np.float32]:
        return np.asarray(sound, np.float32)


class Tokenizer:
    unk_token_id = 2

    def tokenize(self, text: str) -> list[str]:
        return ["▁", *_PIECES.findall(text)]

    def convert_tokens_to_ids(self, tokens: list[str]) -> list[int]:
        return [self.unk_token_id if token in {RARE, "▁"} else 10 for token in tokens]


class EmotionModel:
    """Reads "sad" out of everything, and says so; each emotion may get up to 1.2."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def inference(self, text_input: str) -> dict[str, float]:
        print(f"detected in {text_input}")
        self._draws.draw()
        names = ("happy", "angry", "sad", "afraid", "disgusted", "melancholic", "surprised", "calm")
        return {name: 1.2 if name == "sad" else 0.4 if name == "calm" else 0.0 for name in names}


class Double:
    """IndexTTS 2. It keeps one reference's features by its path, and draws random numbers to work them out."""

    def __init__(self, draws: Draws, *, reads_emotion: bool = False) -> None:
        self.draws = draws
        self.gr_progress: Any = None
        self.tokenizer = Tokenizer()
        self.qwen_emo = EmotionModel(draws) if reads_emotion else None
        self.cache_spk_audio_prompt: str | None = None
        self.cache_spk_cond: Any = None
        self.cache_s2mel_style: Any = None
        self.cache_s2mel_prompt: Any = None
        self.cache_mel: Any = None
        self.cache_emo_audio_prompt: str | None = None
        self.cache_emo_cond: Any = None
        self.read: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self.starve = 0
        self.inside = 0

    def infer(
        self,
        spk_audio_prompt: str,
        text: str,
        output_path: str | None,
        emo_audio_prompt: str | None = None,
        emo_alpha: float = 1.0,
        emo_vector: list[float] | None = None,
        use_emo_text: bool = False,
        emo_text: str | None = None,
        use_random: bool = False,
        interval_silence: int = 200,
        verbose: bool = False,
        max_text_tokens_per_segment: int = 120,
        stream_return: bool = False,
        more_segment_before: int = 0,
        **generation_kwargs: Any,
    ) -> Any:
        self.asked.append({"text": text, "emo_vector": emo_vector, "emo_alpha": emo_alpha} | generation_kwargs)
        feeling = None if emo_vector is not None else emo_audio_prompt
        spoken = self._generate(Call(spk_audio_prompt, text, feeling, emo_alpha, emo_vector, interval_silence))
        return spoken if stream_return else next(spoken, None)

    def _generate(self, call: Call) -> Iterator[NDArray[np.float32]]:
        self.inside += 1
        assert self.inside == 1, "two syntheses at once"
        try:
            yield from self._segments(call)
        finally:
            self.inside -= 1

    def _segments(self, call: Call) -> Iterator[NDArray[np.float32]]:
        print(">> starting inference...", call.text)
        self._progress(0, "starting inference...")
        self._hear(call.speaker, call.feeling or call.speaker)
        if call.vector is not None and len(call.vector) != 8:
            raise RuntimeError("The size of tensor a must match the size of tensor b")
        self._progress(0.1, "text processing...")
        pieces = self.tokenizer.tokenize(call.text)[1:]
        if not pieces:
            raise ValueError("expected a non-empty list of Tensors")
        colour = call.alpha * self.cache_emo_cond + sum(n * v for n, v in enumerate(call.vector or (), 1))
        for start in range(0, len(pieces), 120):
            self._progress(0.2, "speech synthesis 1/1...")
            yield self._sound("".join(pieces[start : start + 120]), colour, call.factor)
            yield np.zeros((1, RATE * call.silence // 1000), np.float32)

    def _sound(self, text: str, colour: float, factor: float) -> NDArray[np.float32]:
        drawn = self.draws.draw()
        if STARVED in text and self.starve:
            self.starve -= 1
            raise OutOfMemoryError("CUDA out of memory")
        if WEDGED in text:
            raise RuntimeError("CUDA error: device-side assert triggered")
        if DUMB in text or (FICKLE in text and len(self.draws.seeds) % 3):
            raise RuntimeError(f"Calculated padded input size per channel: (0). {text}")
        print(text, (1, 100))
        seconds = sum(0.06 if char.isascii() else 0.22 for char in text) * factor
        at = np.arange(int(seconds * RATE)) / RATE
        pitch = 150 + 100 * self.cache_spk_cond + 3 * colour + drawn % 997 / 100
        return (20_000 * np.sin(2 * np.pi * pitch * at)).astype(np.float32)[np.newaxis]

    def _hear(self, speaker: str, feeling: str) -> None:
        if self.cache_spk_cond is None or self.cache_spk_audio_prompt != speaker:
            self.cache_spk_cond = None
            self.cache_spk_cond = self._features(speaker)
            self.cache_s2mel_style = self.cache_s2mel_prompt = self.cache_mel = self.cache_spk_cond
            self.cache_spk_audio_prompt = speaker
        if self.cache_emo_cond is None or self.cache_emo_audio_prompt != feeling:
            self.cache_emo_cond = None
            self.cache_emo_cond = self._features(feeling)
            self.cache_emo_audio_prompt = feeling

    def _features(self, path: str) -> float:
        """How often the sound crosses zero: the pitch of the references that the tests make."""
        samples, rate = soundfile.read(path, dtype="float32")
        self.draws.draw()
        self.read.append(Path(path).name)
        return float(np.count_nonzero(np.diff(np.signbit(samples)))) / len(samples) * rate / 1000

    def _progress(self, value: float, desc: str) -> None:
        if self.gr_progress is not None:
            self.gr_progress(value, desc=desc)


class DoubleOfTwoAndAHalf(Double):
    """2.5 wants a language, and can stretch what it says."""

    def infer(  # type: ignore[override]
        self,
        spk_audio_prompt: str,
        text: str,
        output_path: str | None,
        lang: str,
        emo_audio_prompt: str | None = None,
        emo_alpha: float = 1.0,
        emo_vector: list[float] | None = None,
        use_emo_text: bool = False,
        emo_text: str | None = None,
        use_random: bool = False,
        interval_silence: int = 200,
        verbose: bool = False,
        max_text_tokens_per_segment: int = 120,
        stream_return: bool = False,
        more_segment_before: int = 0,
        duration_factor: float = 1.0,
        text_normalization: bool = True,
        **generation_kwargs: Any,
    ) -> Any:
        self.asked.append({"text": text, "lang": lang, "emo_vector": emo_vector, "duration_factor": duration_factor})
        said = re.sub(r"<([^|>\n]+)\|[^>\n]+>", r"\1", text)
        feeling = None if emo_vector is not None else emo_audio_prompt
        call = Call(spk_audio_prompt, said, feeling, emo_alpha, emo_vector, interval_silence, duration_factor)
        spoken = self._generate(call)
        return spoken if stream_return else next(spoken, None)


RELEASES: dict[str, tuple[Release, type[Double]]] = {"2": (TWO, Double), "2.5": (TWO_AND_A_HALF, DoubleOfTwoAndAHalf)}


def loaded(name: str = "2", *, reads_emotion: bool = False, voices_kept: int = 4) -> Loaded:
    """As `_indextts_loading.load` gives it."""
    release, double = RELEASES[name]
    draws = Draws()
    numbers: Numbers = DoubleNumbers(draws)
    return Loaded(
        model=double(draws, reads_emotion=reads_emotion),
        release=release,
        numbers=numbers,
        vocabulary=VOCABULARY,
        version="sha256:0123456789abcdef",
        device="cpu",
        reads_emotion=reads_emotion,
        voices_kept=voices_kept,
    )


def reference(pitch: float, *, seconds: float = 3.0, rate: int = 24_000) -> Reference:
    """A tone as a voice to speak like; equal tones have one fingerprint."""
    at = np.arange(int(seconds * rate)) / rate
    samples = (0.3 * np.sin(2 * np.pi * pitch * at)).astype(np.float32)
    fingerprint = "ref:" + hashlib.sha256(samples.tobytes()).hexdigest()[:32]
    return Reference(fingerprint, Pcm(samples, rate), "zh")
