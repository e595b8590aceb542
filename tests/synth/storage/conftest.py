"""An S3-compatible server, and a proxy in front of it that misbehaves when a test says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.nanio import NanioServer
from tests.servers.tcp_proxy import TcpProxy


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NanioServer]:
    with NanioServer(tmp_path_factory.mktemp("nanio")) as started:
        yield started


@pytest.fixture
def proxy(server: NanioServer) -> Iterator[TcpProxy]:
    with TcpProxy(server.port) as started:
        yield started
