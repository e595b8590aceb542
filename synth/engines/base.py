"""The engine protocol: one file in this folder is one engine, with a module-level `ENGINE` class or factory."""

from typing import Protocol

from synth.types import EngineCard, Pcm, Segment


class Engine(Protocol):
    """A loaded speech model. One instance lives in a worker process, and runs one synthesis at a time."""

    @property
    def card(self) -> EngineCard:
        """What the engine can do; constant after loading."""
        ...

    def synthesize(self, segment: Segment) -> Pcm:
        """Speak one segment.

        Raises Retryable for what may pass, Permanent for text or controls that it can never speak.
        """
        ...


class EngineFactory(Protocol):
    """`ENGINE` of an engine module: loads the model and warms it up.

    Raises EngineUnavailable when packages or weights are missing. Heavy imports happen in here, never at
    the import of the module.
    """

    def __call__(self, *, threads: int) -> Engine: ...
