"""The engine protocol: one file in this folder is one engine, with a module-level `ENGINE` class or factory."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Protocol, cast, runtime_checkable

from synth.types import EngineCard, Pcm, Reference, Segment

References = Mapping[str, Reference]
NO_OPTIONS: Mapping[str, str] = MappingProxyType({})
NO_REFERENCES: References = MappingProxyType({})


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


@runtime_checkable
class StreamingEngine(Engine, Protocol):
    """An engine that can tell what it has spoken of a segment before it has spoken all."""

    def stream(self, segment: Segment, references: References) -> Iterator[Pcm]:
        """The segment in pieces, in order; joined they are what `synthesize` gives. Raises as `synthesize` does."""
        ...


class CloningEngine(Engine, Protocol):
    """An engine whose card has `cloning`."""

    def synthesize(self, segment: Segment, references: References = ...) -> Pcm:
        """Speak like a reference. `references` holds, by fingerprint, those that the segment's voice and emotion name.

        What the engine works out of one it keeps by the fingerprint, never by a path or a name.
        """
        ...


@runtime_checkable
class FrugalEngine(Engine, Protocol):
    """An engine that can do with less memory for a moment."""

    def release_memory(self) -> None:
        """Give back what no run needs: caches of a device, features of references. Called between runs, after one has
        ended for want of memory; the segment is then tried once more.
        """
        ...


@runtime_checkable
class UnloadableEngine(Engine, Protocol):
    """An engine that gives more back than Python does by itself when nobody refers to the model any more."""

    def unload(self) -> None:
        """Drop the model, and give its memory back to the device. The engine is not used again; another one may be."""
        ...


@runtime_checkable
class DeviceEngine(Engine, Protocol):
    """An engine whose model lies on a device with memory of its own."""

    @property
    def device(self) -> str:
        """As the engine's library calls it, and what it is, as in `cuda:0 (H200)`."""
        ...

    def device_memory(self) -> int:
        """Bytes of it that this process holds."""
        ...


def pieces(engine: Engine, segment: Segment, references: References) -> Iterator[Pcm]:
    """What an engine speaks, piece by piece; one piece where it knows no smaller ones."""
    if isinstance(engine, StreamingEngine):
        yield from engine.stream(segment, references)
    elif references:
        yield cast("CloningEngine", engine).synthesize(segment, references)
    else:
        yield engine.synthesize(segment)


class EngineFactory(Protocol):
    """`ENGINE` of an engine module: loads the model and warms it up.

    `options` are the settings of this engine alone, by name, "" where one is not set; empty for an engine that the
    settings do not know. Raises EngineUnavailable when packages, weights or an option are missing. Heavy imports
    happen in here, never at the import of the module.
    """

    def __call__(self, *, threads: int, options: Mapping[str, str]) -> Engine: ...
