"""What the S3 store says and keeps when network or server fail: a real server behind a proxy that misbehaves."""

from __future__ import annotations

import os
import urllib.request

import pytest

from synth.errors import ObjectMissing, Permanent, StorageUnavailable
from synth.storage import s3
from tests.servers.nanio import NanioServer
from tests.servers.ports import free_port
from tests.servers.tcp_proxy import Way

DATA = bytes(range(256)) * 4000


@pytest.fixture
def direct(server):
    return s3.open_store(server.options)


@pytest.fixture
def store(server, proxy):
    endpoint = f"http://127.0.0.1:{proxy.port}"
    return s3.open_store(server.options | {"endpoint": endpoint, "read_timeout": "0.5", "connect_timeout": "0.5"})


def test_a_closed_port_is_unavailable(server):
    store = s3.open_store(server.options | {"endpoint": f"http://127.0.0.1:{free_port()}"})
    for call in (lambda: store.put("a/x.mp3", b"x", "audio/mpeg"), lambda: store.get("a/x.mp3")):
        with pytest.raises(StorageUnavailable):
            call()


def test_an_upload_that_is_cut_is_unavailable_and_stores_nothing(store, direct, proxy):
    proxy.cut(after=100_000, way=Way.UP)
    with pytest.raises(StorageUnavailable):
        store.put("cut/upload.wav", DATA, "audio/wav")
    with pytest.raises(ObjectMissing):
        direct.head("cut/upload.wav")


def test_an_upload_that_is_cut_keeps_what_was_there_before(store, direct, proxy):
    direct.put("cut/again.wav", DATA, "audio/wav")
    proxy.cut(after=100_000, way=Way.UP)
    with pytest.raises(StorageUnavailable):
        store.put("cut/again.wav", DATA, "audio/wav")
    assert direct.get("cut/again.wav") == DATA


@pytest.mark.parametrize("fault", ["cut", "reset", "hang"])
def test_a_download_that_breaks_off_is_unavailable(store, direct, proxy, fault):
    direct.put("down/load.wav", DATA, "audio/wav")
    getattr(proxy, fault)(after=200_000)
    with pytest.raises(StorageUnavailable):
        store.get("down/load.wav")


@pytest.mark.parametrize("fault", ["cut", "reset", "hang"])
def test_a_stream_that_breaks_off_gives_true_bytes_and_then_says_so(store, direct, proxy, fault):
    direct.put("down/stream.wav", DATA, "audio/wav")
    getattr(proxy, fault)(after=300_000)
    chunks: list[bytes] = []
    with pytest.raises(StorageUnavailable):
        chunks.extend(store.stream("down/stream.wav", 10, len(DATA) - 1))
    assert chunks
    assert DATA[10:].startswith(b"".join(chunks))


def test_a_server_that_hangs_is_given_up_after_the_set_attempts(store, proxy):
    proxy.hang()
    with pytest.raises(StorageUnavailable):
        store.head("any/thing.mp3")
    assert proxy.accepted == 2


def test_a_slow_server_is_waited_for(store, direct, proxy):
    direct.put("slow/a.mp3", b"slow", "audio/mpeg")
    proxy.delay(0.2)
    assert store.get("slow/a.mp3") == b"slow"


def test_it_works_again_when_the_fault_is_over(store, direct, proxy):
    direct.put("back/a.mp3", b"back", "audio/mpeg")
    proxy.reset()
    with pytest.raises(StorageUnavailable):
        store.get("back/a.mp3")
    proxy.pass_through()
    assert store.get("back/a.mp3") == b"back"


def test_objects_survive_a_server_that_is_killed(tmp_path):
    server = NanioServer(tmp_path)
    server.start()
    try:
        store = s3.open_store(server.options)
        store.put("kept/a.mp3", DATA, "audio/mpeg")
        server.kill()
        with pytest.raises(StorageUnavailable):
            store.get("kept/a.mp3")
        server.start()
        assert store.get("kept/a.mp3") == DATA
    finally:
        server.stop()


@pytest.mark.parametrize("wrong", [{"secret_key": "wrong-secret-0123"}, {"access_key": "nobody-0123"}])
def test_refused_credentials_are_permanent_and_not_repeated_in_the_message(server, wrong):
    options = server.options | wrong
    store = s3.open_store(options)
    with pytest.raises(Permanent) as caught:
        store.put("a/x.mp3", b"x", "audio/mpeg")
    assert caught.value.code == "storage_misconfigured"
    assert server.bucket in str(caught.value)
    assert options["access_key"] not in str(caught.value)
    assert options["secret_key"] not in str(caught.value)


def test_a_bucket_that_is_not_there_is_permanent(server):
    store = s3.open_store(server.options | {"bucket": "elsewhere"})
    with pytest.raises(Permanent, match="NoSuchBucket"):
        store.put("a/x.mp3", b"x", "audio/mpeg")


def test_a_url_is_signed_for_the_public_endpoint(server, direct):
    direct.put("public/a.mp3", b"public", "audio/mpeg")
    public = f"http://localhost:{server.port}"
    url = s3.open_store(server.options | {"public_endpoint": public}).url("public/a.mp3", expires_in=60)
    assert url.startswith(public)
    with urllib.request.urlopen(url, timeout=10) as response:
        assert response.read() == b"public"
    moved = url.replace("localhost", "127.0.0.1")  # another Host, so the signature must not hold
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(moved, timeout=10)


def test_a_url_is_signed_without_reaching_the_server(server):
    store = s3.open_store(server.options | {"endpoint": f"http://127.0.0.1:{free_port()}"})
    assert "X-Amz-Signature=" in store.url("a/x.mp3", expires_in=60)


def test_a_forked_process_shares_no_connection_with_its_parent(store, direct, proxy):
    direct.put("fork/a.mp3", b"fork", "audio/mpeg")
    store.get("fork/a.mp3")
    before = proxy.accepted
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if store.get("fork/a.mp3") == b"fork" else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert proxy.accepted == before + 1
