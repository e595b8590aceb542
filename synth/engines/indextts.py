"""IndexTTS 2 and 2.5: speech in the voice of a reference, with emotions and pinyin. Loaded by the engine worker.

Code and weights are under bilibili's own licence, so the user installs both: docs/engines/indextts.md says how.
"""

from __future__ import annotations

import contextlib
import io
import logging
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from synth.engines import _indextts_emotion as emotions
from synth.engines import _indextts_text as texts
from synth.engines._indextts_release import Release
from synth.engines._indextts_voices import SECONDS, Voices
from synth.engines._requests import check
from synth.engines._scripts import Unspeakable
from synth.engines.base import NO_OPTIONS, NO_REFERENCES, References
from synth.errors import Permanent, Retryable, WorkError
from synth.keys import segment_key
from synth.types import Cloning, EngineCard, Pcm, Reference, Segment, SpeedRange, Voice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from synth.engines._indextts_loading import Loaded

NAME = "indextts"
SAMPLE_RATE = 22_050
FULL_SCALE = 32_767.0
PAUSE_MS = 200
OUT_OF_MEMORY, NO_SPEECH, DEVICE_LOST = "out_of_memory", "no_speech", "device_lost"
# How many seeds are tried where none is set and the model says nothing.
TRIES = 3
PATIENCE = 600.0  # seconds to wait for another thread's synthesis
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A segment that has been checked, in upstream's words."""

    speaker: Reference
    feeling: Reference | None
    emotion_text: str | None
    strength: float
    arguments: dict[str, Any]
    seeds: tuple[int, ...]


class IndexTTS:
    """One loaded model. It is not thread-safe, and its random numbers are the process's: one synthesis at a time."""

    def __init__(self, loaded: Loaded) -> None:
        self._model, self._release, self._numbers = loaded.model, loaded.release, loaded.numbers
        self._vocabulary = loaded.vocabulary
        self._voices = Voices(loaded.model, kept=loaded.voices_kept)
        self._turn = threading.Lock()
        self._device = loaded.device
        self._card = _card(loaded)

    @property
    def card(self) -> EngineCard:
        return self._card

    @property
    def device(self) -> str:
        """As torch calls it, with the name of a GPU."""
        return self._device

    def device_memory(self) -> int:
        """Bytes that this process holds of it."""
        return self._numbers.held()

    def release_memory(self) -> None:
        """Drop the features of every reference, and what is kept for later use."""
        self._voices.forget_all()
        self._numbers.free()

    def unload(self) -> None:
        """Drop the model. The engine is of no use afterwards."""
        self.release_memory()
        self._model = self._voices = None  # type: ignore[assignment]
        self._numbers.free()

    def synthesize(self, segment: Segment, references: References = NO_REFERENCES) -> Pcm:
        """Raises Permanent for what it can never speak, Retryable where memory ran out or the model said nothing."""
        import numpy as np

        sounds = [pcm.samples for pcm in self.stream(segment, references)]
        return Pcm(np.concatenate(sounds), SAMPLE_RATE)

    def stream(self, segment: Segment, references: References) -> Iterator[Pcm]:
        """Upstream cuts only long segments, so that most have one piece. Raises as `synthesize` does."""
        if not self._turn.acquire(timeout=PATIENCE):
            raise Retryable("another synthesis does not end", code="busy")
        try:
            yield from self._tried(self._asked(segment, references))
        finally:
            self._turn.release()

    def _tried(self, asked: _Asked) -> Iterator[Pcm]:
        """With another seed where the model says nothing and nobody set one; never after a piece."""
        for turn, seed in enumerate(asked.seeds, 1):
            told = False
            try:
                for pcm in self._run(asked, seed):
                    told = True
                    yield pcm
            except Exception as error:  # noqa: BLE001 - upstream raises anything
                failure = self._failure(error)
                if told or turn == len(asked.seeds) or failure.code != NO_SPEECH:
                    # Without its cause: upstream's messages may hold the tenant's text.
                    raise failure from None
            else:
                return

    def _run(self, asked: _Asked, seed: int) -> Iterator[Pcm]:
        arguments = dict(asked.arguments)
        if asked.emotion_text is not None:
            self._numbers.seed(seed)
            with _quiet():
                scores = self._model.qwen_emo.inference(asked.emotion_text)
            arguments["emo_vector"] = emotions.vector_of_scores(scores, asked.strength)
        with self._voices.ready(asked.speaker, asked.feeling) as (speaker, feeling), self._seeding(seed) as seeded:
            spoken = self._model.infer(speaker, output_path=None, emo_audio_prompt=feeling, **arguments)
            for sound in _joined_with_pauses(spoken, self._numbers.samples):
                if not seeded:
                    raise Permanent("this checkout of IndexTTS does not tell its progress", code="engine_mismatch")
                yield Pcm(sound, SAMPLE_RATE)

    @contextmanager
    def _seeding(self, seed: int) -> Iterator[list[int]]:
        """Seed once the references are worked out, of which upstream tells by its progress.

        To work one out draws random numbers too, and is left out when the features are known already: a seed that
        was set before would not give the same sound again.
        """
        seeded: list[int] = []

        def progress(value: float, desc: str = "") -> None:  # noqa: ARG001 - upstream passes it by name
            if value > 0 and not seeded:
                seeded.append(seed)
                self._numbers.seed(seed)

        self._model.gr_progress = progress
        try:
            yield seeded
        finally:
            self._model.gr_progress = None

    def _failure(self, error: Exception) -> WorkError:
        if isinstance(error, WorkError):
            return error
        kind = type(error).__name__
        if self._numbers.is_out_of_memory(error):
            return Retryable("the device has too little memory", code=OUT_OF_MEMORY)
        if self._numbers.is_lost(error):
            logger.error("indextts has lost its device (%s): the worker must be started anew", kind)
            return Retryable(f"the device failed ({kind})", code=DEVICE_LOST)
        logger.warning("indextts raised %s", kind)
        return Retryable(f"the model says nothing with this seed ({kind})", code=NO_SPEECH)

    def _asked(self, segment: Segment, references: References) -> _Asked:
        manner, release = segment.manner, self._release
        speaker = _reference(references, manner.voice_fingerprint)
        voice = Voice(manner.voice, NAME, manner.voice_fingerprint, self._card.languages)
        language = check(segment, replace(self._card, voices=(voice,)))
        if manner.speed != 1.0 and not release.has_speed:
            raise Permanent(f"IndexTTS {release.name} has no control of speed", code="unsupported_control")
        for text in (segment.text, *(said.value for said in manner.pronunciations if said.kind == "alias")):
            texts.check_text(text, release.scripts)
        texts.check_pinyin(manner.pronunciations, self._vocabulary, language)
        text = release.spelling(segment.text, manner.pronunciations)
        self._check_tokens(text, texts.syllables_in(segment.text, manner.pronunciations))
        arguments = {"text": text, "stream_return": True, "interval_silence": PAUSE_MS, "use_random": False}
        arguments |= release.arguments(language, manner.speed)
        feeling, emotion_text, strength = None, None, 1.0
        if emotion := manner.emotion:
            strength = emotion.strength
            way = emotions.way_of(emotion, self._card.emotion_ways)
            if way == "reference":
                feeling = _reference(references, emotion.reference or "")
                arguments["emo_alpha"] = strength
            elif way == "text":
                emotion_text = emotion.text
            else:
                arguments["emo_vector"] = emotions.vector_of(emotion)
        return _Asked(speaker, feeling, emotion_text, strength, arguments, _seeds(segment))

    def _check_tokens(self, text: str, syllables: frozenset[str]) -> None:
        """Raises Permanent for letters that IndexTTS 2's tokens lack, and for pinyin that does not reach them: it
        would leave the ones out without a word, and spell the other.
        """
        if not self._release.has_unknown_tokens:
            return
        tokenizer = self._model.tokenizer
        with _quiet():
            pieces = tokenizer.tokenize(text)
            known = tokenizer.convert_tokens_to_ids(pieces)
        unknown = [piece for piece, token in zip(pieces, known, strict=True) if token == tokenizer.unk_token_id]
        if lost := sum(char.isalnum() for piece in unknown for char in piece):
            raise Unspeakable(f"{lost} characters that the model does not know")
        if unheard := sorted(syllables.difference(piece.lstrip("▁") for piece in pieces)):
            raise Permanent(f"the model does not take {', '.join(unheard)} for pinyin", code="unknown_syllable")


def load(*, threads: int = 1, options: Mapping[str, str] = NO_OPTIONS) -> IndexTTS:
    """Load the model that the options name, and speak once with it.

    Raises EngineUnavailable, with what is missing, before anything is loaded or downloaded.
    """
    from synth.engines import _indextts_loading as loading

    loaded = loading.load(options, threads=threads)
    engine = IndexTTS(loaded)
    loading.warm_up(engine)
    return engine


ENGINE = load


def _card(loaded: Loaded) -> EngineCard:
    release: Release = loaded.release
    ways = ("name", "vector", "reference", "text") if loaded.reads_emotion else ("name", "vector", "reference")
    return EngineCard(
        name=NAME,
        model_version=loaded.version,
        sample_rate=SAMPLE_RATE,
        languages=release.languages,
        scripts=release.scripts,
        voices=(),
        default_voices={},
        priority=200,
        max_units=320,
        speed=SpeedRange(0.5, 2.0) if release.has_speed else None,
        controls=frozenset({"emotion", "pronunciations", "seed"}),
        emotions=emotions.ORDER,
        emotion_ways=ways,
        emotion_values=len(emotions.ORDER),
        pronunciation_kinds=("pinyin", "alias"),
        syllables=texts.canonical_syllables(loaded.vocabulary),
        cloning=Cloning(languages=release.languages, minimum=3.0, maximum=SECONDS),
        deterministic=False,  # a seed that nobody set is drawn by the worker, which tells it
        limits={"emotion_sum": emotions.MOST, "reference_seconds": SECONDS},
    )


def _reference(references: References, fingerprint: str) -> Reference:
    if fingerprint not in references:
        raise Permanent("indextts speaks only like a reference, and there is none", code="unknown_voice")
    return references[fingerprint]


def _seeds(segment: Segment) -> tuple[int, ...]:
    """The caller's, or else some that follow from the segment, so that it sounds the same wherever it is made."""
    if segment.manner.seed is not None:
        return (segment.manner.seed,)
    digest = segment_key(segment)
    return tuple(int(digest[8 * turn : 8 * turn + 8], 16) for turn in range(TRIES))


def _joined_with_pauses(spoken: Iterator[Any], samples: Any) -> Iterator[NDArray[np.float32]]:
    """Upstream yields sound, silence, sound, silence: each silence goes before the sound that follows it."""
    import numpy as np

    pause = np.zeros(0, np.float32)
    for turn, item in enumerate(_stepwise(spoken)):
        sound = samples(item).reshape(-1) / np.float32(FULL_SCALE)
        if turn % 2:
            pause = sound
        else:
            yield np.concatenate((pause, sound))
    if pause.size == 0:
        raise RuntimeError("no sound")


def _stepwise(spoken: Iterator[Any]) -> Iterator[Any]:
    """Each step in silence, what the consumer does between two of them not."""
    while True:
        with _quiet():
            item = next(spoken, None)
        if item is None:
            return
        yield item


@contextmanager
def _quiet() -> Iterator[None]:
    """Upstream prints and warns with the text that it speaks, and draws bars of progress."""
    nowhere = io.StringIO()
    quiet = contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), warnings.catch_warnings()
    with quiet[0], quiet[1], quiet[2]:
        warnings.simplefilter("ignore")
        yield
