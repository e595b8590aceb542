"""What a batch may be sent as: each item is taken or refused on its own, and what cannot be read leaves nothing."""

from __future__ import annotations

import gzip
import io
import json
import threading
import tracemalloc
from types import SimpleNamespace

import pytest
from django.db import transaction
from rest_framework.exceptions import ParseError

from synth.api import batch_reading
from synth.api.batch_reading import CsvUpload, JsonLinesUpload, JsonUpload, NdjsonBatch
from synth.models import CurationAction, CurationLine
from synth.service import Actor
from synth.service.batches import intake
from synth.service.curation import open_action
from tenants.errors import InvalidRequest
from tests.servers.receiver import wait_until
from tests.synth.batches.conftest import Sender, item
from tests.synth.queue.desk import at_once, somebody_waits

NDJSON, CSV = "application/x-ndjson", "text/csv"
BOM = b"\xef\xbb\xbf"
PACKED = {"Content-Encoding": "gzip"}


def lines(*items: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in items)


def codes(sender: Sender, batch: dict) -> dict[int, str]:
    return {told["line"]: told["error"]["code"] for told in sender.items(batch, status="refused")}


def test_json(owner: Sender):
    batch = owner.send(item("Hello."), item("你好。", custom_id="第一"), metadata={"book": 7})
    assert (batch["object"], batch["status"], batch["metadata"]) == ("batch", "queued", {"book": 7})
    assert owner.counts(batch) == {"total": 2, "waiting": 2}
    assert [(told["line"], told["custom_id"], told["status"]) for told in owner.items(batch)] == [
        (1, None, "waiting"),
        (2, "第一", "waiting"),
    ]


@pytest.mark.parametrize("media_type", [NDJSON, "application/jsonl"])
def test_json_lines_count_the_lines_of_the_file(owner: Sender, media_type: str):
    body = BOM + lines(item("One.")) + b"\r\n" + b"{broken\n" + lines(item("Two.")).rstrip()
    batch = owner.send_lines(body, media_type)
    assert owner.counts(batch) == {"total": 3, "waiting": 2, "refused": 1}
    assert [told["line"] for told in owner.items(batch)] == [1, 3, 4]
    assert codes(owner, batch) == {3: "bad_json"}


def test_csv_counts_the_lines_of_the_file(owner: Sender):
    body = 'custom_id,text,format,speed\r\na,"Two\nlines.",wav,1.5\r\n\r\nb,Bye.,wav,fast\r\nToo,many,1,2,3\r\n'
    batch = owner.send_lines(body.encode("utf-8-sig"), CSV)
    assert [(told["line"], told["custom_id"]) for told in owner.items(batch)] == [(2, "a"), (5, "b"), (6, None)]
    assert codes(owner, batch) == {5: "not_a_number", 6: "not_an_object"}
    assert CurationLine.objects.get(number=2).payload["speed"] == 1.5


@pytest.mark.parametrize(("body", "media_type"), [(lines(item("Hello.")), NDJSON), (b"text\nHello.\n", CSV)])
def test_lists_say_the_rest_in_the_query_string(owner: Sender, body: bytes, media_type: str):
    query = '?metadata={"book":7}&defaults={"speed":1.5}'
    batch = owner.send_lines(body, media_type, query)
    assert batch["metadata"] == {"book": 7}
    assert CurationLine.objects.get().payload["speed"] == 1.5


def test_defaults_hold_where_an_item_does_not_say_otherwise(owner: Sender):
    owner.send(item("One."), item("Two.", speed=0.5), item("Three.", speed=None), defaults={"speed": 1.5})
    assert [line.payload["speed"] for line in CurationLine.objects.order_by("number")] == [1.5, 0.5, 1.5]


def test_members_come_in_any_order(owner: Sender):
    text = '{"items": [{"text": "Hello."}], "defaults": {"speed": 1.5}, "metadata": null}'
    assert owner.upload(text.encode()).status_code == 202
    assert CurationLine.objects.get().payload == {"text": "Hello.", "speed": 1.5}


def test_wrong_items_are_told_of_with_their_fields(owner: Sender):
    batch = owner.send(
        item("Hello."),
        item(""),
        item("Hm.", voice="nobody"),
        "no object",
        None,
        item("Hm.", wait=1),
        item("Hm.", colour="red\0", custom_id="x"),
        item("Hm.", speed=9, seed=-1),
        item("Hm.", custom_id="y" * 129),
        item("Hm.", custom_id=7),
        [[[[[]]]]] * 3,
    )
    assert codes(owner, batch) == {
        2: "nothing_to_say",
        3: "unknown_voice",
        4: "not_an_object",
        5: "not_an_object",
        6: "unknown_field",
        7: "unknown_field",
        8: "invalid_request",
        9: "too_long",
        10: "not_a_string",
        11: "not_an_object",
    }
    told = {told["line"]: told for told in owner.items(batch, status="refused")}
    assert told[7]["custom_id"] == "x"
    assert [field["field"] for field in told[8]["error"]["fields"]] == ["speed", "seed"]
    assert told[8]["error"]["fields"][0]["allowed"] == {"minimum": 0.5, "maximum": 2.0}
    assert "nobody" in told[3]["error"]["detail"]


def test_a_custom_id_is_taken_once_in_a_batch(owner: Sender):
    same = [item("One.", custom_id="a"), item("Two.", custom_id="a"), item("Three."), item("Four.", custom_id="")]
    assert codes(owner, owner.send(*same)) == {2: "not_unique"}
    assert codes(owner, owner.send(*same[:1])) == {}


def test_a_name_that_was_refused_is_free(owner: Sender):
    assert codes(owner, owner.send(item("", custom_id="a"), item("Two.", custom_id="a"))) == {1: "nothing_to_say"}


def test_a_batch_of_refused_items_ends(owner: Sender):
    ended = owner.finish(owner.send(item(""), item("?")))
    assert (ended["status"], owner.counts(ended)) == ("succeeded", {"total": 2, "refused": 2})


@pytest.mark.parametrize(
    ("body", "media_type", "code"),
    [
        (b"", "application/json", "required"),
        (b"{", "application/json", "bad_json"),
        (b"[]", "application/json", "not_an_object"),
        (b'"items"', "application/json", "not_an_object"),
        (b"{}", "application/json", "required"),
        (b'{"items": {}}', "application/json", "not_a_list"),
        (b'{"items": "Hello."}', "application/json", "not_a_list"),
        (b'{"items": null}', "application/json", "required"),
        (b'{"items": []}', "application/json", "out_of_range"),
        (b'{"items": [{"text": "Hello."}]', "application/json", "bad_json"),
        (b'{"items": [{"text": "Hello."}]} {}', "application/json", "bad_json"),
        (b'{"items": [{"text": "Hello."},]}', "application/json", "bad_json"),
        (b'{"items": [{"text": "Hello."}}}', "application/json", "bad_json"),
        (b'{"items": [{"text": "\xff"}]}', "application/json", "nothing_to_read"),
        (b'{"items": [{"seed": 1' + b"0" * 5000 + b"}]}", "application/json", "nothing_to_read"),
        (b'{"items": [{"text": "Hello."}], "more": 1}', "application/json", "unknown_field"),
        (b'{"items": [{"text": "Hello."}], "metadata": 1}', "application/json", "not_an_object"),
        (b'{"items": [{"text": "Hello."}], "defaults": {"text": "x"}}', "application/json", "unknown_field"),
        (b"", NDJSON, "required"),
        (b"\n\n", NDJSON, "out_of_range"),
        (b"\x00\x01binary\n\xff", NDJSON, "nothing_to_read"),
        (b"words\r\nHello.", CSV, "invalid_request"),
        (b"text,colour\r\nHello.,red", CSV, "unknown_field"),
        (b"text,text\r\nHello.,you", CSV, "column_twice"),
        (b"text\r\nHello.\r\n\xff", CSV, "not_utf8"),
        (b'text\r\nHello.\r\n"no end', CSV, "bad_csv"),
        (b"text\r\n", CSV, "out_of_range"),
    ],
)
def test_what_cannot_be_read_is_refused_as_a_whole(owner: Sender, body: bytes, media_type: str, code: str):
    answer = owner.upload(body, media_type)
    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.json()
    assert answer.json()["fields"]
    assert not CurationAction.objects.exists()
    assert not CurationLine.objects.exists()


@pytest.mark.parametrize("query", ["?metadata={", "?colour=red", "?defaults=[]"])
def test_a_wrong_query_string_is_refused(owner: Sender, query: str):
    assert owner.upload(lines(item("Hello.")), NDJSON, query).status_code == 422
    assert owner.upload(b'{"items": [{"text": "Hello."}]}', query="?metadata={}").status_code == 422
    assert not CurationAction.objects.exists()


def test_too_many_items_leave_nothing(owner: Sender, monkeypatch):
    monkeypatch.setattr(intake, "MOST_ITEMS", 5)
    monkeypatch.setattr(intake, "STORED_AT_ONCE", 2)
    answer = owner.upload(lines(*[item(f"Line {number}.") for number in range(6)]), NDJSON)
    assert (answer.status_code, answer.json()["code"]) == (422, "out_of_range")
    assert not CurationAction.objects.exists()
    assert owner.send(*[item(f"Line {number}.") for number in range(5)])["counts"]["total"] == 5


def test_a_body_that_is_too_large_is_not_read(owner: Sender, settings):
    settings.REFRAIN = {**settings.REFRAIN, "BATCH_UPLOAD_LIMIT": 2**16}
    assert owner.upload(b'{"items": [' + b" " * 2**16).status_code == 413
    packed = gzip.compress(b'{"items": [' + b" " * 2**16)
    assert owner.upload(packed, **PACKED).status_code == 413


def test_a_packed_body(owner: Sender):
    body = json.dumps({"items": [item("Hello.")]}).encode()
    assert owner.upload(gzip.compress(body), **PACKED).status_code == 202
    assert owner.upload(gzip.compress(body)[:-9], **PACKED).json()["code"] == "bad_body"
    assert owner.upload(body, **PACKED).json()["code"] == "bad_body"
    assert owner.upload(body, **{"Content-Encoding": "br"}).status_code == 415
    assert owner.upload(body, "text/plain").status_code == 415


@pytest.mark.any_database
def test_half_a_body_is_none():
    """As when the connection breaks: a list whose end is missing would look whole."""
    body = lines(item("One."), item("Two."))
    request = SimpleNamespace(META={"CONTENT_LENGTH": str(len(body))}, headers={})
    assert NdjsonBatch().parse(io.BytesIO(body), parser_context={"request": request})
    with pytest.raises(ParseError):
        NdjsonBatch().parse(io.BytesIO(body[:20]), parser_context={"request": request})


def test_an_item_without_bounds_is_refused_by_itself(owner: Sender, monkeypatch):
    monkeypatch.setattr(batch_reading, "MOST_ITEM", 1000)
    items = [item("One."), item("x" * 2000), {"text": [[0] * 50] * 50}, item("Two.")]
    for batch in (owner.send(*items), owner.send_lines(lines(*items), NDJSON)):
        assert codes(owner, batch) == {2: "too_large", 3: "too_large"}


def test_an_item_that_is_no_json_is_refused_by_itself(owner: Sender):
    wrong = [b"{broken}", b'{"text": "\xff"}', b'{"text": "\\ud800"}', b'{"speed": 1e999}', b"[" * 5000 + b"]" * 5000]
    body = b'{"items": [{"text": "One."}, ' + b", ".join(wrong) + b', {"text": "Two."}]}'
    answer = owner.upload(body)
    assert codes(owner, answer.json()) == dict.fromkeys(range(2, 7), "bad_json")


def test_a_text_is_too_long_by_itself(owner: Sender):
    body = b"text\nHello.\n" + b"x" * 150_000 + b"\n"
    assert codes(owner, owner.send_lines(body, CSV)) == {3: "too_long"}


def test_characters_that_postgresql_does_not_store(owner: Sender):
    ended = owner.finish(owner.send(item("Hel\0lo.", custom_id="a"), item("Hm.", custom_id="b\0")))
    assert owner.counts(ended) == {"total": 2, "succeeded": 1, "refused": 1}
    assert owner.how("Hello.") != "miss"


def test_nor_within_what_is_said_of_a_text(owner: Sender):
    said = {"pronunciations": [{"text": "H\0m", "alias": "Home\0"}], "emotion": {"text": "gla\0d"}}
    assert owner.counts(owner.send(item("Hm.", voice="actor/actor_a", **said))) == {"total": 1, "waiting": 1}


@pytest.mark.parametrize(
    ("kind", "beginning", "one", "end"),
    [
        (JsonUpload, b'{"items": [{"text": "first"}', b', {"text": "%s", "custom_id": "%d"}', b"]}"),
        (JsonLinesUpload, b'{"text": "first"}\n', b'{"text": "%s", "custom_id": "%d"}\n', b""),
        (CsvUpload, b"text,custom_id\n", b"%s,%d\n", b""),
    ],
)
@pytest.mark.any_database
def test_a_long_list_is_read_without_being_held(tmp_path, kind: type, beginning: bytes, one: bytes, end: bytes):
    path = tmp_path / "upload"
    with path.open("wb") as file:
        file.write(beginning)
        for number in range(10_000):
            file.write(one % (b"x" * 1500, number))
        file.write(end)
    with path.open("rb") as file:
        upload = kind(file)
        tracemalloc.start()
        upload.head({})
        read = sum(1 for _ in upload.items())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert read >= 10_000
    assert (path.stat().st_size > 15 * 10**6, peak < 10**6) == (True, True), peak


@pytest.mark.any_database
def test_what_stands_beside_a_long_list_has_a_bound():
    members = b", ".join(b'"%d": 0' % number for number in range(2**17))
    with pytest.raises(InvalidRequest):
        JsonUpload(io.BytesIO(b'{"items": [{"text": "Hello."}], ' + members + b"}")).head({})


@pytest.mark.any_database
def test_items_that_swell_when_they_are_read_are_held_one_by_one(owner: Sender):
    swelling = b'{"text": [' + b"[]," * 100_000 + b"[]]}\n"
    body = swelling * 40 + lines(item("Hello."))
    tracemalloc.start()
    batch = owner.send_lines(body, NDJSON)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert batch["counts"]["refused"] == 40
    assert peak < 6 * len(body), peak


def test_only_ten_at_a_time_and_purges_beside_them(owner: Sender, stranger: Sender):
    for _number in range(10):
        owner.send(item("Hello."))
    refused = owner.upload(json.dumps({"items": [item("Hello.")]}).encode())
    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (429, "too_many_batches", "30")
    assert stranger.send(item("Hello."))["status"] == "queued"
    assert owner.order("purges", filter={"voice": "nobody"})["status"] == "succeeded"
    assert owner.get("/v1/cache/actions", status="queued")["results"] == []
    assert len(owner.get("/v1/batches", status="queued")["results"]) == 10
    assert len(owner.get("/v1/batches", status="running")["results"]) == 0


def test_no_more_than_ten_of_those_that_come_at_once(owner: Sender):
    for _number in range(9):
        owner.send(item("Hello."))
    opened, ended = threading.Event(), threading.Event()

    def tenth() -> None:
        with transaction.atomic():
            open_action("batch", tenant=owner.member.ref, actor=Actor())
            opened.set()
            wait_until(lambda: ended.is_set() or somebody_waits())

    def one_more() -> int:
        assert opened.wait(30)
        try:
            return owner.upload(json.dumps({"items": [item("Hello.")]}).encode()).status_code
        finally:
            ended.set()

    assert at_once([tenth, one_more]) == [None, 429]


@pytest.mark.parametrize("media_type", [NDJSON, CSV])
def test_a_list_has_so_many_lines_at_most_empty_ones_included(owner: Sender, monkeypatch, media_type: str):
    monkeypatch.setattr(batch_reading, "MOST_LINES", 100)
    head = b"text\n" if media_type == CSV else b""
    refused = owner.upload(head + b"\n" * 200, media_type)
    assert (refused.status_code, refused.json()["code"]) == (422, "too_large")
    assert not CurationAction.objects.exists()
