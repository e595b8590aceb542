"""Lists are spoken line by line, below all other work; bad lines are told of, and nothing is done twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from synth import service
from synth.models import CurationAction, CurationBlock, CurationLine, Job, Rendering
from synth.models.states import Priority
from synth.service import making
from tests.synth.curation.conftest import Speaker
from tests.synth.queue.desk import at_once, said

# Several blocks of lines.
MANY = 450
LINES = [{"text": f"Line {number}.", "format": "wav"} for number in range(5)]


def test_lines_are_made_found_and_told_of(owner: Speaker, log):
    owner.speak("Line 0.")
    wrong = [{"text": ""}, {"text": "Hm.", "voice": "nobody"}, "no object", {"text": "Hm.", "cache": "bypass"}, None]
    action = owner.order("warmings", lines=[*LINES, *wrong])
    assert (action["status"], action["matched"]) == ("queued", 10)
    ended = owner.finish(action)
    assert [ended[name] for name in ("status", "done", "cached", "failed")] == ["succeeded", 4, 1, 5]
    failures = owner.get(f"{action['href']}/failures")["results"]
    assert [(line["line"], line["code"]) for line in failures] == [
        (6, "nothing_to_say"),
        (7, "unknown_voice"),
        (8, "not_an_object"),
        (9, "unknown_field"),
        (10, "not_an_object"),
    ]
    assert "nobody" in failures[1]["detail"]
    assert sorted(said(log)) == [f"Line {number}." for number in range(5)]
    assert {owner.how(line["text"]) for line in LINES} == {"hit"}


def test_it_runs_below_all_other_work_and_a_bounded_number_at_a_time(owner: Speaker, monkeypatch):
    monkeypatch.setattr(making, "MOST_OPEN", 3)
    owner.order("warmings", lines=LINES)
    service.drain_actions()
    assert list(Rendering.objects.values_list("priority", flat=True)) == [Priority.REWARM] * 3
    assert set(Job.objects.values_list("metadata__line", flat=True)) == {1, 2, 3}


def test_csv(owner: Speaker):
    text = 'text,format,speed,seed\r\n"Hello, you.",wav,1.5,\r\nBye.,wav,,7\r\nHm.,wav,fast,\r\n\r\nToo,many,1,2,3\r\n'
    answer = owner.post("/v1/cache/warmings", text.encode("utf-8-sig"), "text/csv")
    assert answer.status_code == 202
    ended = owner.finish(answer.json())
    assert [ended[name] for name in ("matched", "done", "failed")] == [4, 2, 2]
    assert owner.how("Hello, you.", speed=1.5) == "hit"
    assert owner.how("Bye.", seed=7) == "hit"
    codes = [line["code"] for line in owner.get(f"{ended['href']}/failures")["results"]]
    assert codes == ["not_a_number", "not_an_object"]


@pytest.mark.parametrize(
    ("body", "content_type", "code"),
    [
        (b"{", "application/json", "bad_json"),
        (b"[]", "application/json", "not_an_object"),
        (b"{}", "application/json", "not_a_list"),
        (b'{"lines": {}}', "application/json", "not_a_list"),
        (b'{"lines": []}', "application/json", "out_of_range"),
        (b'{"lines": [{"text": "x"}], "more": 1}', "application/json", "unknown_field"),
        (b"", "application/json", "required"),
        (b"words\r\nHello.", "text/csv", "invalid_request"),
        (b"text,colour\r\nHello.,red", "text/csv", "unknown_field"),
        (b"text,text\r\nHello.,you", "text/csv", "column_twice"),
        (b"text\r\n\xff", "text/csv", "not_utf8"),
        (b'text\r\n"no end', "text/csv", "bad_csv"),
        (b"text\r\n", "text/csv", "out_of_range"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused_as_a_whole(owner: Speaker, body: bytes, content_type: str, code: str):
    answer = owner.client.generic("POST", "/v1/cache/warmings", body, content_type=content_type)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.json()["fields"]
    assert not CurationAction.objects.exists()


def test_another_kind_of_body_and_one_that_is_too_large(owner: Speaker, monkeypatch):
    assert owner.post("/v1/cache/warmings", b"text", "text/plain").status_code == 415
    from synth.api import warm

    monkeypatch.setattr(warm, "MOST_BYTES", 100)
    assert owner.post("/v1/cache/warmings", {"lines": LINES}).status_code == 413


def test_characters_that_postgresql_does_not_store(owner: Speaker):
    body = json.dumps({"lines": [{"text": "Hel\0lo.", "format": "wav"}]}).encode()
    ended = owner.finish(owner.post("/v1/cache/warmings", body).json())
    assert (ended["done"], ended["failed"]) == (1, 0)
    assert owner.how("Hello.") != "miss"


def test_canceled_lines_are_not_made(owner: Speaker, log, monkeypatch):
    monkeypatch.setattr(making, "MOST_OPEN", 2)
    action = owner.order("warmings", lines=LINES)
    service.drain_actions()
    told = owner.client.delete(action["href"]).json()
    assert told["status"] == "canceled"
    service.drain_actions()
    owner.work()
    assert said(log) == []
    assert (CurationLine.objects.count(), CurationBlock.objects.count()) == (0, 0)
    assert set(Job.objects.values_list("state", flat=True)) == {"canceled"}
    assert owner.client.delete(action["href"]).json() == told


def test_workers_at_once_do_no_line_twice(owner: Speaker, log):
    action = owner.order("warmings", lines=LINES)
    at_once([service.drain_actions] * 3)
    assert Job.objects.count() == 5
    assert owner.finish(action)["done"] == 5
    assert (Job.objects.count(), len(said(log))) == (5, 5)


@pytest.mark.parametrize("moment", ["before the job", "after the job"])
def test_a_worker_that_died_loses_no_line_and_doubles_none(owner: Speaker, log, monkeypatch, moment: str):
    """As `kill -9` leaves it: the line is begun, its job is there or not, the lease has run out."""
    action = owner.order("warmings", lines=LINES[:1])
    submit = making.submit

    def die(*args: Any, **kwargs: Any) -> None:
        if moment == "after the job":
            submit(*args, **kwargs)
        raise SystemExit

    monkeypatch.setattr(making, "submit", die)
    with pytest.raises(SystemExit):
        service.drain_actions()
    monkeypatch.setattr(making, "submit", submit)
    CurationAction.objects.update(lease_until=None)
    assert CurationLine.objects.get().outcome == "open"
    ended = owner.finish(action)
    assert (ended["done"], ended["failed"], Job.objects.count(), len(said(log))) == (1, 0, 1, 1)


def test_a_list_whose_process_died_while_it_was_stored_was_never_accepted(owner: Speaker):
    from datetime import timedelta

    from django.utils import timezone

    action = owner.order("warmings", lines=LINES)
    CurationAction.objects.update(state="waiting", created_at=timezone.now() - timedelta(hours=1))
    service.drain_actions()
    assert Job.objects.count() == 0
    service.sweep()
    assert owner.get(action["href"])["status"] == "failed"
    assert (CurationBlock.objects.count(), CurationLine.objects.count()) == (0, 0)


def test_only_ten_actions_at_a_time(owner: Speaker, stranger: Speaker):
    for _ in range(10):
        owner.order("warmings", lines=LINES)
    refused = owner.post("/v1/cache/warmings", {"lines": LINES})
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_actions")
    assert stranger.order("warmings", lines=LINES)["status"] == "queued"


def test_actions_are_the_tenants_own(owner: Speaker, stranger: Speaker):
    told = owner.speak("One sentence.")
    action = owner.order("purges", entry_ids=[told["id"]])
    assert stranger.get("/v1/cache/actions")["results"] == []
    assert stranger.client.get(action["href"]).status_code == 404
    assert stranger.client.delete(action["href"]).status_code == 404
    assert stranger.post("/v1/cache/purges", {"entry_ids": [told["id"]]}).status_code == 404
    assert [row["kind"] for row in owner.get("/v1/cache/actions", kind="purge", status="succeeded")["results"]] == [
        "purge"
    ]
    assert owner.get("/v1/cache/actions", kind="pin")["results"] == []


def test_a_long_list_is_numbered_through(owner: Speaker):
    action = owner.order("warmings", lines=[{"text": ""}] * MANY)
    ended = owner.finish(action)
    assert (ended["matched"], ended["failed"]) == (MANY, MANY)
    page = owner.get(f"{action['href']}/failures", limit=200)
    numbers = [line["line"] for line in page["results"]]
    while page["next"]:
        page = owner.client.get(page["next"]).json()
        numbers += [line["line"] for line in page["results"]]
    assert numbers == list(range(1, MANY + 1))


def test_an_action_that_breaks_holds_up_no_other(owner: Speaker, monkeypatch):
    broken, good = (owner.order("warmings", lines=[line]) for line in LINES[:2])

    def breaks(action: CurationAction) -> bool:
        if action.public_id == broken["id"]:
            raise KeyError("something that nobody thought of")
        return making.make_portion(action)

    monkeypatch.setattr("synth.service.curation.make_portion", breaks)
    service.drain_actions()
    assert list(Job.objects.values_list("metadata__action", flat=True)) == [good["id"]]
    assert not CurationAction.objects.exclude(lease_until=None).exists()
