"""A running Refrain for one benchmark: on SQLite, with the file store or a real S3 server; and what its engines did."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.engines import counting
from tests.faults.asking import number
from tests.plugin import SECRET_KEY
from tests.servers.databases import SeededDatabases
from tests.servers.nanio import NanioServer
from tests.stack import Stack

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
