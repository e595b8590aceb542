"""Where in a rendition each of its sentences is: noted in its entry as it was joined, else measured anew.

`rendering.py` notes it, `batches/results.py` reads it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from synth import cards
from synth.audio.pcm import Span, from_flac, join_timed
from synth.errors import WorkError
from synth.models import Entry, Rendering
from synth.service.objects import read_sentence
from synth.service.orders import segments_of
from synth.types import Spec
from tenants.types import TenantRef


@dataclass(frozen=True, slots=True)
class TimedSentence:
    """In seconds of the rendition."""

    text: str
    start: float
    end: float


def rounded(spans: Iterable[Span]) -> list[list[float]]:
    """As an entry's provenance keeps them under `sentences`."""
    return [[round(start, 3), round(end, 3)] for start, end in spans]


def stretched(spans: Iterable[Span], factor: float) -> list[Span]:
    """As they are in a sound that was made so much longer."""
    return [(start * factor, end * factor) for start, end in spans]


class SentenceTimes:
    """Asks for the card of each version of an engine once."""

    def __init__(self) -> None:
        self._max_units: dict[tuple[str, str], int | None] = {}

    def of(
        self, spec: Spec, digest: str, *, entry: Entry | None, rendering: Rendering | None
    ) -> list[TimedSentence] | None:
        """The sentences of the sound with this digest; None where nobody can tell any more."""
        max_units = self._limit(spec.manner.engine, spec.manner.model_version)
        if max_units is None:
            return None
        texts = [segment.text for segment in segments_of(spec, max_units=max_units)]
        spans = _noted(entry, digest)
        if len(spans) != len(texts):
            spans = _measured(rendering, spec, digest)
        if len(spans) != len(texts):
            return None
        return [TimedSentence(text, start, end) for text, (start, end) in zip(texts, spans, strict=True)]

    def _limit(self, engine: str, version: str) -> int | None:
        if (engine, version) not in self._max_units:
            card = cards.of_version(engine, version)
            self._max_units[engine, version] = card.max_units if card else None
        return self._max_units[engine, version]


def _noted(entry: Entry | None, digest: str) -> list[list[float]]:
    if entry is None or entry.digest != digest:
        return []
    found: list[list[float]] = entry.provenance.get("sentences", [])
    return found


def _measured(rendering: Rendering | None, spec: Spec, digest: str) -> list[list[float]]:
    """By joining its stored sentences once more: what is not kept in the cache has no entry."""
    if rendering is None or rendering.digest != digest:
        return []
    tenant = TenantRef(rendering.tenant_id)
    key_id = spec.manner.encryption_key_id
    digests = list(rendering.parts.order_by("position").values_list("digest", flat=True))
    try:
        pieces = [from_flac(read_sentence(tenant, part, key_id=key_id)) for part in digests]
    except WorkError:
        return []
    if not pieces:
        return []
    joined, spans = join_timed(pieces, pause_ms=spec.output.pause_ms)
    if spec.output.duration is not None:
        spans = stretched(spans, spec.output.duration / joined.duration)
    return rounded(spans)
