"""Reads a folder of uploads as a worker does, and tells of each: `python -m tests.faults.hostile_reader FOLDER`.

A process of its own, so that its memory and its children are its alone. A line of JSON a file, then one of totals.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from synth.audio.apart import read_reference_apart
from synth.audio.references import ReferenceLimits, ReferenceRefused
from tests.faults.hostile_files import ACCEPTED

KILOBYTES_OF_A_MEGABYTE = 1024
LIMITS = ReferenceLimits(seconds_of_work=30.0)


def main(folder: Path) -> None:
    files = sorted(folder.iterdir())
    _tell(files[0])  # what is loaded once is no growth
    before = _resident_mb()
    for file in files:
        print(json.dumps(_tell(file)), flush=True)
    print(
        json.dumps(
            {
                "growth_mb": max(0.0, _resident_mb() - before),
                "left_behind": _children(),
                # Of a child that was waited for, or of ourselves before it became Python: the greater.
                "decoder_peak_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / KILOBYTES_OF_A_MEGABYTE,
            }
        )
    )


def _tell(file: Path) -> dict[str, object]:
    data = file.read_bytes()
    started = time.monotonic()
    return {"name": file.name, "answer": _answer(data), "seconds": time.monotonic() - started}


def _answer(data: bytes) -> str:
    try:
        reference = read_reference_apart(data, limits=LIMITS)
    except ReferenceRefused as refused:
        return refused.code
    sound = bool(np.isfinite(reference.pcm.samples).all()) and 3.0 <= reference.seconds <= 31.0
    return ACCEPTED if sound else "accepted what is no sound"


def _resident_mb() -> float:
    """The highest that this process has been, from its own memory map: `getrusage` would count its parent's too."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / KILOBYTES_OF_A_MEGABYTE


def _children() -> int:
    return len(
        [child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()]
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
