"""An object store that hangs: one reader pays its time-out, the next ones are refused at once; writers always try."""

from __future__ import annotations

import time

import pytest

from synth.errors import ObjectMissing, StorageUnavailable
from synth.storage import s3
from synth.storage._guarded import GuardedStore

PATIENCE = 60.0


@pytest.fixture
def store(server, proxy) -> GuardedStore:
    options = {"endpoint": f"http://127.0.0.1:{proxy.port}", "read_timeout": "0.5", "connect_timeout": "0.5"}
    made = GuardedStore(s3.open_store(server.options | options), pause=3600)
    made.put("a/b.mp3", b"here", "audio/mpeg")
    return made


def refused(call) -> bool:
    with pytest.raises(StorageUnavailable):
        call()
    return True


def is_readable(store: GuardedStore) -> bool:
    try:
        return store.get("a/b.mp3") == b"here"
    except StorageUnavailable:
        return False


@pytest.mark.parametrize("trouble", ["hang", "reset", "stop"])
def test_only_the_first_reader_pays(store, proxy, caplog, trouble):
    getattr(proxy, trouble)()
    proxy.drop_connections()
    assert refused(lambda: store.get("a/b.mp3"))
    tries = proxy.accepted
    for call in (lambda: store.get("a/b.mp3"), lambda: store.head("a/b.mp3"), lambda: store.stream("a/b.mp3", 0, 3)):
        assert refused(call)
    assert proxy.accepted == tries
    told = [record.getMessage() for record in caplog.records if record.name == "synth.breaker"]
    assert [line.split(":")[0] for line in told] == ["the object store is away"]


def test_a_writer_tries_all_the_same(store, proxy):
    store._breaker.failed(OSError("a moment ago"))
    store.put("a/c.mp3", b"written", "audio/mpeg")
    assert store._store.get("a/c.mp3") == b"written"


def test_it_is_tried_again_by_itself(store, proxy):
    store._breaker._pause = 0.05
    proxy.hang()
    assert refused(lambda: store.get("a/b.mp3"))
    proxy.pass_through()
    deadline = time.monotonic() + PATIENCE
    while not is_readable(store):
        assert time.monotonic() < deadline


def test_an_object_that_is_missing_is_no_store_that_is_away(store):
    with pytest.raises(ObjectMissing):
        store.get("a/nothing.mp3")
    assert not store._breaker.is_open
    assert store.get("a/b.mp3") == b"here"


def test_urls_are_signed_while_it_is_away(store):
    store._breaker.failed(OSError("a moment ago"))
    assert store.url("a/b.mp3", expires_in=60).startswith("http")
