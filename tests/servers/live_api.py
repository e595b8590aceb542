"""The Django application on a port of 127.0.0.1, in threads of the test's own process; needs no database."""

from __future__ import annotations

import threading
from typing import Any, Self

from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler


class LiveApi:
    """Serves whatever the settings say while it is open. Use it as a context manager."""

    def __init__(self) -> None:
        self._server = ThreadedWSGIServer(("127.0.0.1", 0), _QuietHandler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._server.set_app(WSGIHandler())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        pass
