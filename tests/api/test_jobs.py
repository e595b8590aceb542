"""Looking at speech, cancelling it, and listing it with filters, page by page."""

from base64 import b64encode
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from django.utils import timezone

from synth.models import Job, Rendering
from synth.models.states import State
from tests.api.caller import CHINESE, Caller, is_chinese, problem, refused_fields
from tests.finished import finish, queue

pytestmark = pytest.mark.django_db

MEMBERS = {
    *("id", "object", "status", "href", "engine", "voice", "language", "category", "characters", "metadata"),
    "callback",
    *("created_at", "ended_at", "error", "audio"),
}


def listed(owner: Caller, **query: Any) -> list[str]:
    response = owner.get("/v1/speech", query)
    assert response.status_code == 200, response.content
    return [job["id"] for job in response.json()["results"]]


def test_a_job_that_waits(owner: Caller) -> None:
    job = queue(owner.member, {"text": "Hello.", "metadata": {"a": 1}})
    body = owner.get(f"/v1/speech/{job.public_id}").json()
    assert body.keys() == MEMBERS
    assert (body["status"], body["audio"], body["error"], body["ended_at"]) == ("queued", None, None, None)


def test_a_job_that_is_done_has_audio_with_a_url(owner: Caller) -> None:
    done = finish(owner.member, {"text": "Hello."})
    body = owner.get(f"/v1/speech/{done.job.public_id}").json()
    assert (body["status"], body["audio"]["sha256"]) == ("succeeded", done.digest)
    assert body["audio"]["url"].startswith("http")
    assert body["audio"]["url_expires_at"].endswith("Z")


def test_a_job_that_failed_has_the_code(owner: Caller) -> None:
    job = queue(owner.member, {"text": "Hello."})
    ended = {"state": State.FAILED, "error_code": "told_to_fail", "ended_at": timezone.now()}
    Job.objects.filter(id=job.id).update(**ended)
    body = owner.get(f"/v1/speech/{job.public_id}").json()
    assert (body["status"], body["error"]) == ("failed", {"code": "told_to_fail"})


def test_an_entry_looks_like_the_job_that_made_it(owner: Caller) -> None:
    done = finish(owner.member, {"text": "Hello."})
    body = owner.get(f"/v1/speech/{done.entry_id}").json()
    assert body.keys() <= MEMBERS
    assert (body["id"], body["status"], body["audio"]["sha256"]) == (done.entry_id, "succeeded", done.digest)


def test_head_is_taken_where_get_is(owner: Caller) -> None:
    job = queue(owner.member, {"text": "Hello."})
    for path in ("/v1/speech", f"/v1/speech/{job.public_id}", "/v1/voices", "/v1/engines"):
        response = owner.head(path)
        assert (response.status_code, response.content) == (200, b"")


def test_cancelling_ends_the_job_and_its_work(owner: Caller) -> None:
    job = queue(owner.member, {"text": "Hello."})
    response = owner.delete(f"/v1/speech/{job.public_id}")
    assert (response.status_code, response.json()["status"]) == (200, "canceled")
    assert Rendering.objects.get(id=job.rendering_id).state == State.CANCELED
    assert owner.delete(f"/v1/speech/{job.public_id}").json()["status"] == "canceled"


def test_cancelling_what_is_done_changes_nothing(owner: Caller) -> None:
    done = finish(owner.member, {"text": "Hello."})
    assert owner.delete(f"/v1/speech/{done.job.public_id}").json()["status"] == "succeeded"


def test_an_entry_is_no_job_to_cancel(owner: Caller) -> None:
    done = finish(owner.member, {"text": "Hello."})
    assert owner.delete(f"/v1/speech/{done.entry_id}").status_code == 404


def test_the_list_is_the_newest_first_and_pages_lose_nothing(owner: Caller) -> None:
    ids = [queue(owner.member, {"text": f"Number {number}."}).public_id for number in range(7)]
    Job.objects.update(created_at=timezone.now())  # all at one moment, which a cursor must bear
    seen, query = [], {"limit": "3"}
    response = owner.get("/v1/speech", query)
    while True:
        body = response.json()
        seen += [job["id"] for job in body["results"]]
        if body["next"] is None:
            break
        response = owner.get(f"/v1/speech?{urlsplit(body['next']).query}")
    assert seen == ids[::-1]


def test_a_page_holds_fifty_and_never_more_than_two_hundred(owner: Caller) -> None:
    job = queue(owner.member, {"text": "Hello."})
    copies = [Job(**{**fields_of(job), "id": None}) for _ in range(250)]
    for copy in copies:
        copy.id = Job._meta.get_field("id").get_default()
    Job.objects.bulk_create(copies)
    assert [len(listed(owner, **query)) for query in ({}, {"limit": 200}, {"limit": 10_000})] == [50, 200, 200]


def fields_of(job: Job) -> dict[str, Any]:
    return {field.attname: getattr(job, field.attname) for field in Job._meta.concrete_fields}


def test_filters(owner: Caller) -> None:
    queued = queue(owner.member, {"text": "One.", "category": "greeting", "voice": "counting_b"})
    done = finish(owner.member, {"text": "Two.", "voice": "plain_a"}).job
    Job.objects.filter(id=done.id).update(created_at=timezone.now() - timedelta(days=2))
    yesterday = (timezone.now() - timedelta(days=1)).isoformat()
    old, new = [done.public_id], [queued.public_id]
    assert listed(owner, status="succeeded") == listed(owner, engine="plain") == old
    assert listed(owner, voice="plain_a") == listed(owner, created_before=yesterday) == old
    assert listed(owner, status="queued") == listed(owner, category="greeting") == new
    assert listed(owner, voice="counting_b") == listed(owner, created_after=yesterday) == new
    assert listed(owner, status="failed") == listed(owner, voice="plain_a", status="queued") == []


def test_an_empty_category_means_those_without_one(owner: Caller) -> None:
    queue(owner.member, {"text": "One.", "category": "greeting"})
    plain = queue(owner.member, {"text": "Two."})
    assert listed(owner, category="") == [plain.public_id]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"status": "waiting"}, {"status": "invalid_choice"}),
        ({"status": "50%"}, {"status": "invalid_choice"}),
        ({"created_after": "yesterday"}, {"created_after": "invalid"}),
        ({"category": "a\0"}, {"category": "null_characters_not_allowed"}),
        ({"stauts": "failed"}, {"stauts": "unknown_field"}),
        ({"format": "mp3"}, {"format": "unknown_field"}),
        ({"engine": "e" * 65, "voice": "v" * 129}, {"engine": "max_length", "voice": "max_length"}),
    ],
    ids=str,
)
def test_a_filter_that_cannot_be_used_is_refused_in_both_languages(
    owner: Caller, query: dict[str, str], expected: dict[str, str]
) -> None:
    assert refused_fields(owner.get("/v1/speech", query)) == expected
    chinese = problem(owner.get("/v1/speech", query, **CHINESE))
    assert all(is_chinese(field["message"]) for field in chinese["fields"])
    assert "%%" not in str(chinese)


@pytest.mark.parametrize(
    "position",
    ["2023", "", "yesterday", "2026-13-01 00:00:00+00:00", "2026-01-01 00:00:00", "0001-01-01 00:00:00+14:00", "\0"],
)
def test_a_cursor_that_holds_no_time_is_refused(owner: Caller, position: str) -> None:
    cursor = b64encode(urlencode({"p": position}).encode()).decode()
    assert owner.get("/v1/speech", {"cursor": cursor}).status_code == 404


def test_a_cursor_that_we_did_not_give_is_refused(owner: Caller) -> None:
    assert 400 <= owner.get("/v1/speech", {"cursor": "nonsense"}).status_code < 500
