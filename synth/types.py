"""Frozen values that travel between doors, service and parts. No Django, no numpy at run time."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


CLONED = "ref:"  # how the fingerprints of tenants' own voices begin


class CacheMode(StrEnum):
    USE = "use"
    REFRESH = "refresh"
    BYPASS = "bypass"


class Delivery(StrEnum):
    URL = "url"
    INLINE = "inline"
    BINARY = "binary"


# Marks a field that came after the first schema of keys: see `keys.canonical`.
LATER = {"later": True}


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice of one engine. `fingerprint` is a digest of what makes its sound (style vector, reference samples).

    A tenant's own, made from a reference that it uploaded, has a fingerprint that begins with `CLONED`.
    """

    name: str
    engine: str
    fingerprint: str
    languages: tuple[str, ...]
    label: str = ""
    gender: str = ""

    @property
    def cloned(self) -> bool:
        return self.fingerprint.startswith(CLONED)


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """How to say one piece of text. `kind` is pinyin, ipa or alias."""

    text: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Emotion:
    """One of: a name, a vector, a text, a reference (the fingerprint of a voice); with a strength of 0 to 1."""

    name: str | None = None
    vector: tuple[float, ...] | None = None
    text: str | None = None
    reference: str | None = None
    strength: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """Everything but the text and the output form that changes the sound: shared by a Spec and its Segments.

    `seed` None means `auto`. `options` are engine options in name order.
    """

    engine: str
    model_version: str
    voice: str
    voice_fingerprint: str
    language: str
    speed: float = 1.0
    duration: float | None = None
    emotion: Emotion | None = None
    pronunciations: tuple[Pronunciation, ...] = ()
    seed: int | None = None
    options: tuple[tuple[str, str], ...] = ()
    normaliser: int
    splitter: int
    encryption_key_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The form of a rendition: format name, Hz, kbit/s (None where the format has none), LUFS, silence in ms.

    `duration` is the seconds to which the whole is stretched, None where it stays as it was spoken.
    """

    format: str
    sample_rate: int
    bitrate: int | None
    loudness: float
    pause_ms: int
    duration: float | None = field(default=None, metadata=LATER)


@dataclass(frozen=True, slots=True)
class Spec:
    """Every input that changes the sound of a rendition, normalised; nothing else."""

    manner: Manner
    text: str
    output: Output


@dataclass(frozen=True, slots=True)
class Segment:
    """One complete sentence of a Spec: the unit of synthesis, of claiming and of reuse."""

    manner: Manner
    text: str


@dataclass(frozen=True, slots=True)
class Pcm:
    """Mono audio: float32 samples of shape [N], nominally within ±1, at `sample_rate` Hz."""

    samples: NDArray[np.float32]
    sample_rate: int

    @property
    def duration(self) -> float:
        """Seconds."""
        return len(self.samples) / self.sample_rate


@dataclass(frozen=True, slots=True)
class Reference:
    """A sound to speak like: mono, at the rate that it is kept at. `fingerprint` is that of its decoded samples;

    `transcript` is what is said in it, "" where nobody told.
    """

    fingerprint: str
    pcm: Pcm
    language: str
    transcript: str = ""


@dataclass(frozen=True, slots=True)
class Clip:
    """Encoded audio as it is stored: named by the SHA-256 of its bytes."""

    data: bytes
    digest: str
    format: str
    media_type: str
    duration: float
    sample_rate: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAudio:
    """What is known of a rendition without its bytes. `made` is Unix seconds; `id` is the entry's public id.

    `sealed_by` is the id of the key that its bytes are sealed with, wherever they are kept; `size` is theirs in clear.
    """

    id: str
    digest: str
    format: str
    media_type: str
    size: int
    duration: float
    sample_rate: int
    made: float
    sealed_by: str = ""


@dataclass(frozen=True, slots=True)
class SpeedRange:
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloning:
    """How an engine takes a voice from a reference: which languages it then speaks, how many seconds it can use, and
    whether it has to know what is said in them.
    """

    languages: tuple[str, ...]
    minimum: float = 3.0
    maximum: float = 30.0
    needs_transcript: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCard:
    """What an engine says of itself; published by its workers, the only thing the API knows of engines.

    `languages` are BCP 47 tags; `scripts` are ISO 15924 codes (Hani, Hira, Kana, Latn, Hang).
    `max_units` bounds one segment: a CJK character counts `text.units.CJK_UNITS`, any other one 1.
    `controls` are those of duration, emotion, pronunciations, seed and instruction that it has; `emotion_ways` are
    name, vector, text and reference; `emotion_values` is how many numbers a vector has; `pronunciation_kinds` are
    pinyin, ipa and alias; `syllables` are all that it can say by pinyin, as text/pinyin.py spells them, none where it
    takes any. `cloning` is None
    where every voice is the engine's own.
    `default_voices` maps a language to the voice taken when the caller names none; `priority` breaks ties
    between engines for a language, the lower first.
    """

    name: str
    model_version: str
    sample_rate: int
    languages: tuple[str, ...]
    scripts: tuple[str, ...]
    voices: tuple[Voice, ...]
    default_voices: dict[str, str]
    priority: int = 100
    max_units: int = 400
    speed: SpeedRange | None = None
    controls: frozenset[str] = frozenset()
    emotions: tuple[str, ...] = ()
    emotion_ways: tuple[str, ...] = ()
    emotion_values: int = 0
    pronunciation_kinds: tuple[str, ...] = ()
    syllables: tuple[str, ...] = ()
    cloning: Cloning | None = None
    deterministic: bool = False
    limits: dict[str, Any] = field(default_factory=dict)
