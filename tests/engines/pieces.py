"""An engine that speaks in pieces, and writes down when its module is imported, its model loaded and dropped.

Workers of the tests load it; the log is that of the counting engine.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from synth.engines.base import References
from synth.types import Pcm, Segment
from tests.engines import counting

NAME = "pieces"
HANG_BETWEEN = "hang-between"


def _note(event: str) -> None:
    if path := os.environ.get("COUNTING_LOG"):
        with Path(path).open("a", encoding="utf-8") as log:
            log.write(json.dumps({"event": event, "pid": os.getpid(), "text": ""}) + "\n")


_note("import")


class PiecesEngine(counting.CountingEngine):
    def __init__(self, *, threads: int = 1, **_: object) -> None:
        super().__init__(threads=threads)
        self.device = "tape 0"
        voices = tuple(replace(voice, engine=NAME) for voice in self.card.voices)
        self.card = replace(self.card, name=NAME, voices=voices)
        _note("load")

    def stream(self, segment: Segment, references: References) -> Iterator[Pcm]:  # noqa: ARG002
        pcm = self.synthesize(segment)
        step = counting.SAMPLE_RATE // 5
        for at in range(0, len(pcm.samples), step):
            yield Pcm(pcm.samples[at : at + step], pcm.sample_rate)
            while HANG_BETWEEN in segment.text:
                time.sleep(3600)

    def device_memory(self) -> int:
        return 123_000_000

    def unload(self) -> None:
        _note("unload")


ENGINE = PiecesEngine
