"""What this process takes of the machine's memory, as the kernel tells, and what of it is there to stay."""

import contextlib
import gc
import os
import resource
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Bytes now; 0 where the kernel does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE
    except OSError:
        return 0


def most_resident() -> int:
    """Bytes at most so far. Celery looks at the same figure, after each task."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_most() -> None:
    """Let `most_resident` begin anew from what is taken now, so that loading a model does not count as growth."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def set_aside() -> None:
    """What is loaded by now stays: the garbage collector need not search it again and again, a third of a second each
    time, while somebody waits.
    """
    gc.collect()
    gc.freeze()
