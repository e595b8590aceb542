"""A running Refrain for one benchmark: on SQLite, with the file store or a real S3 server; and what its engines did."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.engines import counting
from tests.faults.asking import number
from tests.plugin import SECRET_KEY
from tests.servers.databases import SeededDatabases
from tests.servers.nanio import NanioServer
from tests.stack import READY_SECONDS, Stack
from ttsproject.launch.leash import leashed

COUNTING = "counting"


@contextlib.contextmanager
def running(
    *, s3: bool = False, env: Mapping[str, str] | None = None, engine: str = COUNTING, engine_workers: int = 1
) -> Iterator[Stack]:
    """One API process, engine workers, one io worker and beat, all warm."""
    with tempfile.TemporaryDirectory(prefix="refrain-bench-") as name, contextlib.ExitStack() as stopping:
        directory = Path(name)
        os.environ.update(
            {"REFRAIN_SECRET_KEY": SECRET_KEY, "REFRAIN_VAR_DIR": name, "REDIS_URL": "redis://127.0.0.1:1/0"}
        )
        settings = dict(env or {})
        if s3:
            settings |= _s3_settings(stopping.enter_context(NanioServer(directory / "s3")))
        if engine != COUNTING:
            settings["REFRAIN_ENGINE_PACKAGES"] = "synth.engines"
        seeded = SeededDatabases(directory / "databases", None).fresh()
        stack = Stack(directory / "stack", seeded, env=settings, engines=(engine,))
        stopping.callback(stack.stop)
        stack.start()
        stack.api()
        stack.engine_worker(engine_workers)
        stack.io_worker()
        stack.beat()
        stack.wait_for_engines()
        yield stack


@contextlib.contextmanager
def server(command: Sequence[str], port: int, *, log: Path, env: Mapping[str, str]) -> Iterator[int]:
    """Another server on this machine, until the end of the block; its process id, once it listens."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            leashed(command), stdout=output, stderr=output, env={**os.environ, **env}, start_new_session=True
        )
    try:
        deadline = time.monotonic() + READY_SECONDS
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{log.read_text()}")
            time.sleep(0.05)
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def engine_runs(stack: Stack) -> int:
    """By the engine's own log where it is the counting one, else by how often a worker took a sentence."""
    if stack.engines == (COUNTING,):
        return len(stack.runs())
    return number(stack, "SELECT coalesce(sum(attempt), 0) FROM synth_synthesis")


def engine_seconds(stack: Stack) -> float:
    """Seconds that the engines have spent speaking."""
    if stack.engines != (COUNTING,):
        return number(stack, "SELECT coalesce(sum(engine_seconds), 0) * 1000 FROM synth_synthesis") / 1000
    begun: dict[int, float] = {}  # a process speaks one sentence at a time
    total = 0.0
    for line in counting.lines(stack.runs_log):
        if line["event"] == "start":
            begun[line["pid"]] = line["time"]
        else:
            total += line["time"] - begun.pop(line["pid"])
    return total


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _s3_settings(server: NanioServer) -> dict[str, str]:
    options = server.options
    return {
        "REFRAIN_STORAGE": "s3",
        "S3_BUCKET": options["bucket"],
        "S3_REGION": options["region"],
        "S3_ENDPOINT_URL": options["endpoint"],
        "S3_ACCESS_KEY_ID": options["access_key"],
        "S3_SECRET_ACCESS_KEY": options["secret_key"],
        "S3_ADDRESSING_STYLE": options["addressing_style"],
    }
