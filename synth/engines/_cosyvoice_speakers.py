"""Voices that were worked out of a reference, each once: for cosyvoice.py. In memory alone, and a bounded number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from synth.engines._cosyvoice_upstream import Upstream
from synth.engines._cosyvoice_ways import Way
from synth.errors import Permanent
from synth.types import Reference

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST = 30.0
LOWEST_RATE = 16_000
KEPT = 64
_PREFIX = "refrain:"
_SPEAKING = _PREFIX + "speaking"


class Speakers:
    """Upstream's own table of speakers holds what it extracts; never `save_spkinfo`, which writes to the model."""

    def __init__(self, upstream: Upstream, *, kept: int = KEPT) -> None:
        self._upstream = upstream
        self._kept = kept
        self._used: OrderedDict[str, None] = OrderedDict()

    def extract(self, reference: Reference) -> dict[str, Any]:
        """What upstream knows of the reference's sound, without a word of what is said in it.

        By the fingerprint alone: the same sound may have another transcript with another tenant.
        """
        name = _PREFIX + reference.fingerprint
        if name not in self._upstream.speakers:
            self._add(name, reference)
        self._used[name] = None
        self._used.move_to_end(name)
        while len(self._used) > self._kept:
            oldest, _ = self._used.popitem(last=False)
            self._upstream.speakers.pop(oldest, None)
        return self._upstream.speakers[name]

    def forget_all(self) -> None:
        """Those of references; each is worked out again when it is asked for."""
        for name in self._used:
            self._upstream.speakers.pop(name, None)
        self._used.clear()

    @contextmanager
    def speaking(self, way: Way) -> Iterator[str]:
        """The name by which upstream knows the way's voice, for one call.

        Given a known speaker, upstream passes over the instruction or transcript of the call and takes the speaker's.
        """
        if way.speaker is None:
            yield way.named
            return
        tokens, length = self._upstream.tokens(way.prompt)
        known = self._upstream.speakers
        known[_SPEAKING] = {**way.speaker, "prompt_text": tokens, "prompt_text_len": length}
        try:
            yield _SPEAKING
        finally:
            known.pop(_SPEAKING, None)

    def _add(self, name: str, reference: Reference) -> None:
        """By way of a file, which upstream asks for: named by its content, readable to nobody else, gone at once."""
        import soundfile

        if reference.pcm.duration > LONGEST:
            raise Permanent(f"CosyVoice takes at most {LONGEST:g} s of a reference", code="reference_too_long")
        samples, rate = self._loadable(reference)
        with TemporaryDirectory(prefix="refrain-cosyvoice-") as folder:
            path = Path(folder) / f"{reference.fingerprint.replace(':', '-')}.wav"
            soundfile.write(path, samples, rate, subtype="FLOAT")
            self._upstream.add_speaker(str(path), name)

    def _loadable(self, reference: Reference) -> tuple[NDArray[np.float32], int]:
        """Upstream refuses less than 16 kHz."""
        samples, rate = reference.pcm.samples, reference.pcm.sample_rate
        if rate >= LOWEST_RATE:
            return samples, rate
        import torch
        import torchaudio

        sound = torchaudio.functional.resample(torch.from_numpy(samples).unsqueeze(0), rate, LOWEST_RATE)
        raised: NDArray[np.float32] = sound.squeeze(0).numpy()
        return raised, LOWEST_RATE
