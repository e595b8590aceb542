"""A running Refrain with the counting engine, for one benchmark: on SQLite, with the file store or a real S3 server."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.plugin import SECRET_KEY
from tests.servers.databases import SeededDatabases
from tests.servers.nanio import NanioServer
from tests.stack import Stack


@contextlib.contextmanager
def running(*, s3: bool = False, env: Mapping[str, str] | None = None) -> Iterator[Stack]:
    """One API process, one engine worker, one io worker and beat, all warm."""
    with tempfile.TemporaryDirectory(prefix="refrain-bench-") as name, contextlib.ExitStack() as stopping:
        directory = Path(name)
        os.environ.update(
            {"REFRAIN_SECRET_KEY": SECRET_KEY, "REFRAIN_VAR_DIR": name, "REDIS_URL": "redis://127.0.0.1:1/0"}
        )
        settings = dict(env or {})
        if s3:
            settings |= _s3_settings(stopping.enter_context(NanioServer(directory / "s3")))
        stack = Stack(directory / "stack", SeededDatabases(directory / "databases", None).fresh(), env=settings)
        stopping.callback(stack.stop)
        stack.start()
        stack.api()
        stack.engine_worker()
        stack.io_worker()
        stack.beat()
        stack.wait_for_engines()
        yield stack


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
