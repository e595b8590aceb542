"""What every object store must do, run over all of them.

Set REFRAIN_TEST_S3_ENDPOINT, _ACCESS_KEY and _SECRET_KEY to run it against one more S3-compatible server.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from synth import wiring
from synth.errors import ObjectMissing, Permanent
from synth.keys import object_name
from synth.storage import files, s3
from synth.storage.base import ObjectInfo, ObjectStore
from tenants.types import TenantRef
from tests.servers.live_api import LiveApi
from tests.servers.nanio import NanioServer

EXTERNAL = os.environ.get("REFRAIN_TEST_S3_ENDPOINT", "")
KINDS = ["files", "s3", *(["external"] if EXTERNAL else [])]
WEEK = 7 * 24 * 3600


@pytest.fixture(scope="module", params=KINDS)
def store(request, tmp_path_factory) -> Iterator[ObjectStore]:
    yield from globals()[f"_open_{request.param}"](tmp_path_factory.mktemp(request.param))


def _open_files(directory) -> Iterator[ObjectStore]:
    with LiveApi() as api, pytest.MonkeyPatch.context() as patch:
        options = {"root": str(directory), "base_url": api.url, "signing_key": "contract-suite-key"}
        opened = files.open_store(options)
        patch.setattr(wiring, "object_store", lambda: opened)
        yield opened


def _open_s3(directory) -> Iterator[ObjectStore]:
    with NanioServer(directory) as server:
        yield s3.open_store(server.options | {"prefix": "voices"})


def _open_external(_directory) -> Iterator[ObjectStore]:
    keys = {name: os.environ[f"REFRAIN_TEST_S3_{name.upper()}"] for name in ("access_key", "secret_key")}
    bucket = f"contract-{uuid4().hex[:12]}"
    opened = s3.open_store({"bucket": bucket, "endpoint": EXTERNAL, "addressing_style": "path", **keys})
    opened._client().create_bucket(Bucket=bucket)
    yield opened


def new_object(size: int = 20_000, *, extension: str = "mp3") -> tuple[str, bytes]:
    """Bytes nobody stored before, and the name that Refrain would give them."""
    data = random.Random(uuid4().int).randbytes(size)
    digest = hashlib.sha256(data).hexdigest()
    return object_name(TenantRef(uuid4()), digest, extension), data


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


def fetch(url: str, *, method: str = "GET", **headers: str) -> Answer:
    """As any player would: no key, no cookie."""
    request = urllib.request.Request(url, method=method, headers={k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return Answer(response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read())


def wait_until(condition: Callable[[], bool], *, seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.1)


def test_it_gives_back_what_was_put(store):
    name, data = new_object()
    store.put(name, data, "audio/mpeg")
    assert store.get(name) == data
    assert store.head(name) == ObjectInfo(size=len(data), media_type="audio/mpeg")


@pytest.mark.parametrize(
    ("extension", "media_type"),
    [("mp3", "audio/mpeg"), ("opus", "audio/ogg;codecs=opus"), ("wav", "audio/wav"), ("pcm", "audio/pcm;rate=24000")],
)
def test_it_keeps_the_media_type(store, extension, media_type):
    name, data = new_object(100, extension=extension)
    store.put(name, data, media_type)
    assert store.head(name).media_type == media_type
    assert fetch(store.url(name, expires_in=60)).headers["Content-Type"] == media_type


def test_the_last_media_type_put_is_the_one_kept(store):
    name, data = new_object(100)
    store.put(name, data, "audio/x-other")
    store.put(name, data, "audio/mpeg")
    assert store.head(name).media_type == "audio/mpeg"


def test_putting_the_same_again_is_harmless(store):
    name, data = new_object()
    store.put(name, data, "audio/mpeg")
    store.put(name, data, "audio/mpeg")
    assert store.get(name) == data


def test_many_threads_put_and_get_the_same_object(store):
    name, data = new_object(300_000)
    store.put(name, data, "audio/mpeg")

    def put_and_get(_turn: int) -> bool:
        store.put(name, data, "audio/mpeg")
        return store.get(name) == data and b"".join(store.stream(name, 0, len(data) - 1)) == data

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(put_and_get, range(32)))


def test_an_empty_object_is_kept(store):
    name, data = new_object(0)
    store.put(name, data, "audio/mpeg")
    assert store.get(name) == b""
    assert store.head(name).size == 0


def test_what_is_not_there_is_missing(store):
    name, _ = new_object()
    with pytest.raises(ObjectMissing):
        store.get(name)
    with pytest.raises(ObjectMissing):
        store.head(name)
    with pytest.raises(ObjectMissing):
        store.stream(name, 0, 9)  # already here, not at the first chunk: a view must still be able to say 404


def test_a_deleted_object_is_missing_and_deleting_again_is_harmless(store):
    name, data = new_object(extension="pcm")
    store.put(name, data, "audio/pcm;rate=24000")
    store.delete(name)
    with pytest.raises(ObjectMissing):
        store.get(name)
    with pytest.raises(ObjectMissing):
        store.head(name)
    store.delete(name)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 19_999), (100, 299), (19_999, 19_999)])
def test_a_stream_holds_exactly_the_bytes_asked_for(store, start, end):
    name, data = new_object()
    store.put(name, data, "audio/mpeg")
    assert b"".join(store.stream(name, start, end)) == data[start : end + 1]


def test_a_stream_from_beyond_the_end_is_refused(store):
    name, data = new_object(10)
    store.put(name, data, "audio/mpeg")
    with pytest.raises((ValueError, Permanent)):  # the second from servers that answer 400 instead of 416
        store.stream(name, 10, 20)


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 4)])
def test_an_impossible_range_is_refused(store, start, end):
    with pytest.raises(ValueError):
        store.stream("a/b.mp3", start, end)


def test_a_stream_can_be_given_up(store):
    name, data = new_object(1_000_000)
    store.put(name, data, "audio/mpeg")
    for _ in range(40):  # more often than the pool has connections
        chunks = store.stream(name, 0, len(data) - 1)
        next(chunks)
        chunks.close()
    assert store.get(name) == data


def test_a_large_object_comes_back_in_bounded_chunks(store):
    name, data = new_object(20 * 2**20, extension="wav")
    store.put(name, data, "audio/wav")
    digest, longest = hashlib.sha256(), 0
    for chunk in store.stream(name, 0, len(data) - 1):
        digest.update(chunk)
        longest = max(longest, len(chunk))
    assert digest.digest() == hashlib.sha256(data).digest()
    assert longest <= 2**20


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "a/.hidden", "a/", "a b", "ä", "a\\b"]
)
def test_an_unsafe_name_is_refused_by_every_method(store, name):
    calls: list[Callable[[], object]] = [
        lambda: store.put(name, b"x", "audio/mpeg"),
        lambda: store.get(name),
        lambda: store.stream(name, 0, 1),
        lambda: store.head(name),
        lambda: store.delete(name),
        lambda: store.url(name, expires_in=60),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()


def test_a_signed_url_plays_without_a_key(store):
    name, data = new_object()
    store.put(name, data, "audio/mpeg")
    answer = fetch(store.url(name, expires_in=60))
    assert (answer.status, answer.body) == (200, data)
    assert answer.headers["Content-Type"] == "audio/mpeg"
    assert answer.headers["Content-Length"] == str(len(data))


def test_a_signed_url_answers_a_range(store):
    name, data = new_object()
    store.put(name, data, "audio/mpeg")
    answer = fetch(store.url(name, expires_in=60), Range="bytes=1000-1999")
    assert (answer.status, answer.body) == (206, data[1000:2000])
    assert answer.headers["Content-Range"] == f"bytes 1000-1999/{len(data)}"


def other_object(url: str) -> str:
    return re.sub(r"[0-9a-f](\.mp3)", lambda m: ("0" if m[0][0] != "0" else "1") + m[1], url)


def longer_life(url: str) -> str:
    return re.sub(r"(?i)(expires=)(\d+)", lambda m: m[1] + str(int(m[2]) + 60), url)


def other_signature(url: str) -> str:
    return re.sub(r"(?i)(signature=)(.)", lambda m: m[1] + ("0" if m[2] != "0" else "1"), url)


@pytest.mark.parametrize("alter", [other_object, longer_life, other_signature])
def test_an_altered_url_is_refused(store, alter):
    name, data = new_object()
    store.put(name, data, "audio/mpeg")
    url = store.url(name, expires_in=60)
    assert alter(url) != url
    answer = fetch(alter(url))
    assert answer.status == 403
    assert data not in answer.body


def test_an_unsigned_url_is_refused(store):
    name, data = new_object()
    store.put(name, data, "audio/mpeg")
    answer = fetch(store.url(name, expires_in=60).partition("?")[0])
    assert answer.status in {400, 401, 403}  # Swift takes it for a request of its own protocol: 400
    assert data not in answer.body


def test_an_expired_url_is_refused(store):
    name, data = new_object()
    store.put(name, data, "audio/mpeg")
    url = store.url(name, expires_in=1)
    wait_until(lambda: fetch(url).status == 403)
    assert fetch(store.url(name, expires_in=60)).status == 200


@pytest.mark.parametrize("seconds", [0, -1, WEEK + 1])
def test_a_url_that_would_live_too_long_is_refused(store, seconds):
    with pytest.raises(ValueError):
        store.url("a/b.mp3", expires_in=seconds)


def test_a_url_may_live_a_week(store):
    name, data = new_object(10)
    store.put(name, data, "audio/mpeg")
    assert fetch(store.url(name, expires_in=WEEK)).body == data


def names_below(store: ObjectStore, folder: str) -> list[str]:
    return sorted(item.name for item in store.walk(folder))


def test_a_walk_tells_each_object_below_a_folder_once(store):
    tenant, other = uuid4().hex, uuid4().hex
    names = [f"{tenant}/{digest[:2]}/{digest}.pcm" for digest in ("aa11", "aa22", "ab33")]
    for name in (*names, f"{other}/aa/aa11.pcm", f"{tenant}0/aa/aa44.pcm"):
        store.put(name, b"four", "audio/pcm;rate=24000")  # in files the type lies in a file beside
    assert names_below(store, tenant) == names
    assert names_below(store, f"{tenant}/aa") == names[:2]
    assert {*names, f"{other}/aa/aa11.pcm"} <= {item.name for item in store.walk()}
    store.delete(names[0])
    assert names_below(store, tenant) == names[1:]


def test_a_walk_tells_size_and_time(store):
    name, data = new_object(1234)
    store.put(name, data, "audio/mpeg")
    (told,) = store.walk(name.rpartition("/")[0])
    assert (told.name, told.size) == (name, 1234)
    assert abs((datetime.now(UTC) - told.modified).total_seconds()) < 60


def test_a_folder_that_is_not_there_has_no_objects(store):
    assert list(store.walk(uuid4().hex)) == []


def test_a_walk_is_not_cut_at_a_page(store):
    folder = uuid4().hex
    names = sorted(f"{folder}/{number:04}.mp3" for number in range(1100))  # S3 tells a thousand at a time
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: store.put(name, b"x", "audio/mpeg"), names))
    assert names_below(store, folder) == names


@pytest.mark.parametrize("folder", ["..", "/etc", "a/../..", "a/"])
def test_a_walk_does_not_leave_the_store(store, folder):
    with pytest.raises(ValueError):
        list(store.walk(folder))
