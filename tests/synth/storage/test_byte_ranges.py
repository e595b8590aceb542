"""GET, HEAD, Range and conditions on a stored object, as audio players and caches ask (RFC 9110)."""

from __future__ import annotations

import pytest
from django.test import RequestFactory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.api.ranges import parse_range, stream_object
from synth.errors import ObjectMissing
from synth.storage import files

DATA = bytes(range(200))
NAME = "t/aa/digest.mp3"
ETAG = '"digest"'


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("audio"))
    opened = files.open_store({"root": root, "base_url": "http://x", "signing_key": "byte-ranges-suite"})
    opened.put(NAME, DATA, "audio/mpeg")
    return opened


def ask(store, *, method="GET", **headers):
    request = RequestFactory().generic(method, "/", headers={k.replace("_", "-"): v for k, v in headers.items()})
    return stream_object(
        request,
        store,
        NAME,
        info=store.head(NAME),
        etag=ETAG,
        filename="speech.mp3",
        cache_control="private, max-age=9",
    )


def body(response) -> bytes:
    return b"".join(response) if response.streaming else response.content


def test_it_answers_whole_with_every_header_a_player_needs(store):
    response = ask(store)
    assert (response.status_code, body(response)) == (200, DATA)
    assert dict(response.items()) == {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, max-age=9",
        "Content-Disposition": 'inline; filename="speech.mp3"',
        "Content-Length": "200",
        "Content-Type": "audio/mpeg",
        "ETag": ETAG,
        "X-Content-Type-Options": "nosniff",
    }


def test_head_says_the_same_without_the_bytes(store):
    whole, head = ask(store), ask(store, method="HEAD")
    assert (head.status_code, body(head)) == (200, b"")
    assert dict(head.items()) == dict(whole.items())


@pytest.mark.parametrize(
    ("header", "expected", "content_range"),
    [
        ("bytes=0-9", DATA[:10], "bytes 0-9/200"),
        ("bytes=190-", DATA[190:], "bytes 190-199/200"),
        ("bytes=-5", DATA[-5:], "bytes 195-199/200"),
        ("bytes=-500", DATA, "bytes 0-199/200"),
        ("bytes=199-999999999999", DATA[199:], "bytes 199-199/200"),
        ("BYTES=0-", DATA, "bytes 0-199/200"),
    ],
)
def test_one_range_gives_206(store, header, expected, content_range):
    response = ask(store, Range=header)
    assert (response.status_code, body(response)) == (206, expected)
    assert response["Content-Range"] == content_range
    assert response["Content-Length"] == str(len(expected))


@pytest.mark.parametrize("header", ["bytes=200-", "bytes=500-600", "bytes=-0"])
def test_a_range_beyond_the_end_gives_416(store, header):
    response = ask(store, Range=header)
    assert (response.status_code, response["Content-Range"]) == (416, "bytes */200")


@pytest.mark.parametrize(
    "header",
    ["bytes=0-1,5-6", "bytes=9-2", "bytes=-", "bytes=a-b", "items=0-1", "0-1", "", "bytes=1" * 50, "bytes=٣-٥"],
)
def test_a_range_that_is_not_understood_gives_the_whole(store, header):
    response = ask(store, Range=header)
    assert (response.status_code, body(response)) == (200, DATA)


@pytest.mark.parametrize("value", [ETAG, "*", '"x", "digest"', 'W/"digest"'])
def test_a_client_that_has_it_gets_304(store, value):
    response = ask(store, If_None_Match=value, Range="bytes=0-1")
    assert (response.status_code, body(response)) == (304, b"")
    assert (response["ETag"], response["Cache-Control"]) == (ETAG, "private, max-age=9")
    assert response["Content-Length"] == "200"  # never that of the empty body: RFC 9110 section 8.6


def test_a_client_that_has_another_gets_it(store):
    assert ask(store, If_None_Match='"other"').status_code == 200


def test_if_match_of_another_gives_412(store):
    assert ask(store, If_Match='"other"').status_code == 412


@pytest.mark.parametrize(
    ("value", "status"),
    [(ETAG, 206), ('"other"', 200), ('W/"digest"', 200), ("Mon, 30 Nov 2026 08:00:00 GMT", 200)],
)
def test_if_range_holds_only_for_the_same_strong_tag(store, value, status):
    assert ask(store, Range="bytes=0-1", If_Range=value).status_code == status


def test_head_ignores_a_range(store):
    assert ask(store, method="HEAD", Range="bytes=0-1").status_code == 200


def test_an_empty_object_has_no_ranges(store):
    store.put("t/aa/empty.mp3", b"", "audio/mpeg")
    info = store.head("t/aa/empty.mp3")
    more = {"info": info, "etag": '"e"', "filename": "e.mp3", "cache_control": "private"}
    whole = stream_object(RequestFactory().get("/"), store, "t/aa/empty.mp3", **more)
    assert (whole.status_code, whole["Content-Length"], body(whole)) == (200, "0", b"")
    part = stream_object(RequestFactory().get("/", headers={"Range": "bytes=0-"}), store, "t/aa/empty.mp3", **more)
    assert part.status_code == 416


def test_an_object_lost_since_it_was_looked_up_is_missing_before_the_first_byte(store):
    info = store.head(NAME)
    with pytest.raises(ObjectMissing):
        stream_object(
            RequestFactory().get("/"),
            store,
            "t/aa/gone.mp3",
            info=info,
            etag='"g"',
            filename="g",
            cache_control="private",
        )


@given(start=st.integers(0, 250), length=st.integers(1, 250))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_range_holds_exactly_its_bytes(store, start, length):
    response = ask(store, Range=f"bytes={start}-{start + length - 1}")
    expected = DATA[start : start + length]
    assert response.status_code == (206 if expected else 416)
    assert body(response) == expected


@given(header=st.text(alphabet="bytes=-0123456789, ", max_size=30), size=st.integers(1, 10**12))
def test_a_parsed_range_lies_within_the_object_or_is_empty(header, size):
    found = parse_range(header, size)
    if found is not None and found.length > 0:
        assert 0 <= found.start <= found.end < size
