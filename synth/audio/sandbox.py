"""The process that decodes one upload: `python -m synth.audio.sandbox`, started by apart.py.

Reads the file from standard input, answers on standard output (`answers`), and ends. Before the first byte of the
file is read it has given up memory, time, and for all but m4a every file, socket and further process.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import sys

from synth.audio import answers
from synth.audio.reading import container_of, read_reference
from synth.audio.references import ReferenceLimits, ReferenceRefused

ONLY_STANDARD_STREAMS = 3


def main() -> int:
    limits = ReferenceLimits(**json.loads(sys.argv[1]))
    _confine(limits)
    try:
        _load_decoders()
    except (ImportError, OSError, MemoryError):
        return _say(answers.refused(ReferenceRefused("decoder_unavailable")))
    try:
        data = sys.stdin.buffer.read(limits.max_bytes + 1)
        if container_of(data, limits=limits) != "m4a":
            _cut_off()
        answer = answers.accepted(read_reference(data, limits=limits))
    except ReferenceRefused as refusal:
        answer = answers.refused(refusal)
    except MemoryError:
        answer = answers.refused(ReferenceRefused("too_costly"))
    return _say(answer)


def _load_decoders() -> None:
    """Nothing can be imported once no file can be opened."""
    import numpy  # noqa: F401
    import soundfile  # noqa: F401
    import soxr  # noqa: F401


def _confine(limits: ReferenceLimits) -> None:
    # The parent kills us at its deadline; should the parent itself be killed, the alarm does.
    signal.alarm(round(limits.seconds_of_work) + 5)
    _lower(resource.RLIMIT_CPU, limits.cpu_seconds)
    _lower(resource.RLIMIT_FSIZE, limits.max_bytes)
    _lower(resource.RLIMIT_CORE, 0)
    with contextlib.suppress(ValueError, OSError):  # macOS has no such limit
        _lower(resource.RLIMIT_AS, limits.address_space)


def _cut_off() -> None:
    _lower(resource.RLIMIT_NOFILE, ONLY_STANDARD_STREAMS)
    _lower(resource.RLIMIT_NPROC, 0)
    _lower(resource.RLIMIT_FSIZE, 0)


def _lower(limit: int, value: int) -> None:
    """For good: the hard limit too. One that is lower already stays."""
    _, hard = resource.getrlimit(limit)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, value))


def _say(answer: bytes) -> int:
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
