"""Reads an upload in a process of its own, so that a decoder's fault is a refusal. Called by the io worker.

Not a fork: the worker's memory, secrets, connections and locks are not there to be reached. See sandbox.py.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from synth.audio import answers
from synth.audio.reading import container_of
from synth.audio.references import DEFAULT_LIMITS, ReferenceAudio, ReferenceLimits, ReferenceRefused

CODE = Path(__file__).resolve().parents[2]
# -P and -s: only the paths that are named, not the folder we happen to stand in and not the user's own packages.
CHILD = (sys.executable, "-P", "-s", "-m", "synth.audio.sandbox")
PIECE = 1 << 16
TOOK_TOO_MUCH = frozenset({-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGXFSZ})


def read_reference_apart(
    data: bytes, *, limits: ReferenceLimits = DEFAULT_LIMITS, child: Sequence[str] = CHILD
) -> ReferenceAudio:
    """The reference in an uploaded file, whatever its name or type said.

    Raises ReferenceRefused, and nothing else, for every other file: also for one that crashes, hangs or fills the
    process that decodes it. That process is gone when this returns. `child` is for tests.
    """
    container_of(data, limits=limits)
    try:
        process = _start(child, limits)
    except OSError as error:
        raise ReferenceRefused("decoder_unavailable") from error
    try:
        answer = _exchange(process, data, limits=limits)
    except TimeoutError:
        raise ReferenceRefused("decoder_timed_out") from None
    finally:
        _end(process)
    try:
        return answers.parse(answer, limits=limits)
    except ValueError as error:
        raise ReferenceRefused("too_costly" if process.returncode in TOOK_TOO_MUCH else "undecodable") from error


def _start(child: Sequence[str], limits: ReferenceLimits) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own module; nothing of the upload is in the command
        [*child, json.dumps(dataclasses.asdict(limits))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        cwd="/",
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    """None of the worker's: its secrets are in there."""
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(CODE), "LC_ALL": "C.UTF-8", **one_thread}


def _exchange(process: subprocess.Popen[bytes], data: bytes, *, limits: ReferenceLimits) -> bytes:
    """Hands the file over and takes the answer, never more of it than one can have. Raises TimeoutError."""
    assert process.stdin is not None  # noqa: S101 - _start opened both
    assert process.stdout is not None  # noqa: S101
    until, most = time.monotonic() + limits.seconds_of_work, answers.most_bytes(limits)
    left, answer = memoryview(data), bytearray()
    with selectors.DefaultSelector() as selector:
        for stream, event in ((process.stdin, selectors.EVENT_WRITE), (process.stdout, selectors.EVENT_READ)):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, event)
        while len(answer) <= most:
            ready = selector.select(max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                if key.fileobj is process.stdout:
                    piece = os.read(key.fd, PIECE)
                    if not piece:
                        return bytes(answer)
                    answer += piece
                else:
                    left = _hand_over(process.stdin, left)
                    if not left:
                        selector.unregister(process.stdin)
                        process.stdin.close()
    return b""


def _hand_over(stream: IO[bytes], left: memoryview) -> memoryview:
    """What is still to be written; nothing once nobody reads."""
    try:
        return left[os.write(stream.fileno(), left[:PIECE]) :]
    except BrokenPipeError:
        return left[:0]


def _end(process: subprocess.Popen[bytes]) -> None:
    """The whole session, with a process that the decoder may have started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()
