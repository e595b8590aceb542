"""What goes over the wire for a put: one round trip for a sentence, and for long bodies boto's question first."""

from __future__ import annotations

from typing import Any

import pytest

from synth.storage import s3


@pytest.mark.parametrize(("size", "asks"), [(0, False), (200_000, False), (2**20, False), (2**20 + 1, True)])
def test_only_for_a_long_body_the_server_is_asked_first(server, size, asks):
    store = s3.open_store(server.options)
    sent: list[Any] = []
    store._client().meta.events.register("before-send.s3", lambda request, **_: sent.append(request))
    data = bytes(size)
    store.put(f"asked/{size}.flac", data, "audio/flac")
    assert [request.headers.get("Expect") for request in sent] == [b"100-continue" if asks else None]
    assert store.get(f"asked/{size}.flac") == data


def test_a_body_is_sent_whole_again_when_the_server_had_closed_the_connection(server, proxy):
    store = s3.open_store(server.options | {"endpoint": f"http://127.0.0.1:{proxy.port}"})
    store.put("again/first.flac", b"first", "audio/flac")
    proxy.drop_connections()
    store.put("again/second.flac", bytes(100_000), "audio/flac")
    assert s3.open_store(server.options).get("again/second.flac") == bytes(100_000)
