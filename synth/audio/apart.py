"""Reads an upload in a process of its own, so that a decoder's fault is a refusal. Called by the io worker."""

from __future__ import annotations

from synth.audio.references import ReferenceAudio, ReferenceLimits

DEFAULT_LIMITS = ReferenceLimits()


def read_reference_apart(data: bytes, *, limits: ReferenceLimits = DEFAULT_LIMITS) -> ReferenceAudio:
    """The reference in an uploaded file, whatever its name or type said.

    Raises ReferenceRefused, and nothing else, for every other file: also for one that crashes, hangs or fills the
    process that decodes it.
    """
    raise NotImplementedError
