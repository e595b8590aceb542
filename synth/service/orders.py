"""What a miss asks to be made: its sentences, and what it may share with others."""

from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from synth.cache.policy import Retention
from synth.keys import segment_key
from synth.models.states import Priority
from synth.service.synthesis_quota import Charge
from synth.spec import SpeechRequest
from synth.text.split import split
from synth.types import CacheMode, Segment, Spec
from tenants.types import TenantRef


@dataclass(frozen=True, kw_only=True)
class Order:
    """A request on its way into rows."""

    tenant: TenantRef
    request: SpeechRequest
    key: str
    job_id: UUID
    max_units: int
    retention: Retention
    priority: int = Priority.INTERACTIVE
    charge: Charge | None = None

    def flight(self, key: str, *, refreshes: bool) -> str:
        """What may share work with this order. Bypassed work is shared with nobody, and what a rule says is never
        to be cached only with its like.
        """
        if self.request.cache is CacheMode.BYPASS:
            return f"{key}:{self.job_id.hex}"
        if not self.retention.store:
            return f"{key}:unstored"
        if refreshes and self.request.cache is CacheMode.REFRESH:
            return f"{key}:refresh"
        return key

    @property
    def stored(self) -> bool:
        return self.request.cache is not CacheMode.BYPASS and self.retention.store

    @property
    def reads(self) -> bool:
        """Whether it may take what is stored."""
        return self.request.cache is CacheMode.USE and self.retention.store

    @cached_property
    def sentences(self) -> list[tuple[str, Segment]]:
        """Every sentence with its key, in order."""
        segments = segments_of(self.request.spec, max_units=self.max_units)
        return [(segment_key(segment), segment) for segment in segments]


def segments_of(spec: Spec, *, max_units: int) -> list[Segment]:
    """The sentences of a spec, in order."""
    pieces = split(spec.text, language=spec.manner.language, max_units=max_units)
    return [Segment(spec.manner, piece.strip()) for piece in pieces]
