"""A request with an `Idempotency-Key` is carried out once, and equal ones get its answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from synth import service
from synth.errors import ServiceUnavailable, SpeechFailed
from synth.models import IdempotentRequest, Job
from synth.models.clock import database_now
from synth.service import speaking
from synth.service.idempotency import KEPT, forget_requests
from tenants import service as tenant_service
from tests.api.caller import CHINESE, Caller, content, is_chinese, problem
from tests.api.repeating import KEY, REPLAYED, TEXT, same_but, speak, told_before
from tests.finished import finish

pytestmark = pytest.mark.django_db


def test_a_202_is_told_again_as_it_was(owner: Caller) -> None:
    first, again = speak(owner), speak(owner)
    assert (first.status_code, told_before(first)) == (202, False)
    assert (again.status_code, told_before(again)) == (202, True)
    assert (again.json(), again["Location"], again["Retry-After"]) == (
        first.json(),
        first["Location"],
        first["Retry-After"],
    )
    assert again["X-Request-Id"] != first["X-Request-Id"] == again.json()["request_id"]
    assert Job.objects.count() == 1


def test_a_hit_by_url_is_told_again_with_a_url_that_works(owner: Caller) -> None:
    done = finish(owner.member, {"text": TEXT})
    first = speak(owner)
    again = speak(owner)
    assert (again.status_code, told_before(again)) == (200, True)
    assert first.json().keys() == again.json().keys()
    assert same_but(first, again, "url", "url_expires_at")
    assert content(owner.client.get(again.json()["url"].partition(":8000")[2])) == done.data


@pytest.mark.parametrize("delivery", ["inline", "binary"])
def test_bytes_are_read_again(owner: Caller, delivery: str) -> None:
    finish(owner.member, {"text": TEXT})
    first = speak(owner, delivery=delivery)
    again = speak(owner, delivery=delivery)
    assert (first.status_code, again.status_code, told_before(again)) == (200, 200, True)
    assert again.json() == first.json() if delivery == "inline" else again.content == first.content
    of_each = {"X-Request-Id", REPLAYED}
    assert {n: v for n, v in again.items() if n not in of_each} == {n: v for n, v in first.items() if n not in of_each}
    assert b"Hello" not in str(IdempotentRequest.objects.get().body).encode()


def test_a_longer_sound_than_may_be_inline_has_its_url_again(owner: Caller, settings: Any) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "INLINE_LIMIT": 10}
    finish(owner.member, {"text": TEXT})
    first, again = speak(owner, delivery="inline"), speak(owner, delivery="inline")
    assert "url" in first.json()
    assert again.json().keys() == first.json().keys()


def test_quoted_or_bare_it_is_the_same_key(owner: Caller) -> None:
    assert speak(owner, "one").json() == speak(owner, '"one"').json()


def test_each_key_is_a_request_and_no_key_is_one_each_time(owner: Caller) -> None:
    ids = [speak(owner, "one"), speak(owner, "two"), owner.speak(text=TEXT), owner.speak(text=TEXT)]
    assert len({answer.json()["id"] for answer in ids}) == 4


def test_a_known_request_with_a_key_does_not_take_the_short_way(owner: Caller) -> None:
    finish(owner.member, {"text": TEXT})
    assert [owner.speak(text=TEXT).by_express for _ in range(3)] == [False, True, True]
    with_key = [speak(owner) for _ in range(2)]
    assert [(answer.by_express, told_before(answer)) for answer in with_key] == [(False, False), (False, True)]
    assert owner.speak(text=TEXT).by_express
    assert same_but(with_key[0], with_key[1], "url", "url_expires_at")


def test_a_key_is_its_tenants_alone(owner: Caller, stranger: Caller) -> None:
    first, other = speak(owner), speak(stranger)
    assert not told_before(other)
    assert first.json()["id"] != other.json()["id"]
    assert speak(stranger, text="Something else.").status_code == 422


def test_get_and_delete_take_no_notice(owner: Caller) -> None:
    href = speak(owner)["Location"]
    assert owner.get(href, **KEY).json()["status"] == "queued"
    assert owner.client.delete(href, headers=KEY).json()["status"] == "canceled"
    assert owner.get("/v1/speech", None, **KEY).json()["results"][0]["status"] == "canceled"


def test_after_a_day_the_key_is_free(owner: Caller) -> None:
    first = speak(owner)
    IdempotentRequest.objects.update(created_at=database_now() - KEPT - timedelta(seconds=1))
    second = speak(owner, text="Something else.")
    assert (second.status_code, told_before(second)) == (202, False)
    assert first.json()["id"] != second.json()["id"]


def test_the_sweep_forgets_what_is_older_than_a_day(owner: Caller) -> None:
    speak(owner, "old")
    IdempotentRequest.objects.update(created_at=database_now() - KEPT - timedelta(seconds=1))
    speak(owner, "new")
    assert forget_requests() == 1
    assert [row.key for row in IdempotentRequest.objects.all()] == ["new"]


@pytest.mark.parametrize("change", [{"text": "Something else."}, {"metadata": {"a": 1}}, {"wait": 0.0}], ids=str)
def test_the_key_of_another_request_is_422(owner: Caller, change: dict[str, Any]) -> None:
    speak(owner)
    refused = speak(owner, **change)
    assert (refused.status_code, problem(refused)["code"]) == (422, "idempotency_key_reused")
    assert Job.objects.count() == 1


def test_the_key_of_another_address_is_422(owner: Caller) -> None:
    speak(owner)
    body = {"text": TEXT, "alias": "x"}
    refused = owner.client.post("/v1/lexicon", body, content_type="application/json", headers=KEY)
    assert (refused.status_code, problem(refused)["code"]) == (422, "idempotency_key_reused")


@pytest.mark.parametrize("path", ["/v1/speech", "/v1/lexicon"])
def test_a_bad_key_is_400_with_what_is_allowed(owner: Caller, path: str) -> None:
    refused = owner.client.post(path, {}, content_type="application/json", headers={"Idempotency-Key": "k" * 256})
    body = problem(refused)
    assert (refused.status_code, body["code"]) == (400, "bad_idempotency_key")
    assert (body["fields"][0]["field"], body["fields"][0]["allowed"]["maximum"]) == ("Idempotency-Key", 255)
    assert not IdempotentRequest.objects.exists()


def test_without_a_good_api_key_nothing_is_told(owner: Caller) -> None:
    finish(owner.member, {"text": TEXT})
    speak(owner)
    assert speak(owner, headers={"Authorization": "Bearer nothing"}).status_code == 401


@pytest.mark.django_db(transaction=True)
def test_a_revoked_key_gets_no_answer_again(owner: Caller) -> None:
    speak(owner)
    tenant_service.revoke_key(owner.member.key)
    assert speak(owner).status_code == 401


def test_while_it_runs_it_is_409_and_says_when_to_come_back(owner: Caller) -> None:
    speak(owner)
    row = IdempotentRequest.objects.filter(key="one")
    row.update(status=None, lease_until=database_now() + timedelta(seconds=20))
    refused = speak(owner)
    assert (refused.status_code, problem(refused)["code"]) == (409, "idempotency_in_progress")
    assert int(refused["Retry-After"]) >= 1
    row.update(lease_until=database_now())
    assert speak(owner).status_code == 202
    assert Job.objects.count() == 1


@pytest.mark.parametrize("wait", [0, 2.5])
def test_the_lease_is_the_wait_and_thirty_seconds(owner: Caller, monkeypatch: pytest.MonkeyPatch, wait: float) -> None:
    seen = []
    undertake = service.undertake
    monkeypatch.setattr("synth.service.undertake", lambda *a, lease: seen.append(lease) or undertake(*a, lease=lease))
    monkeypatch.setattr(speaking, "wait_for", lambda job, _: job)
    speak(owner, wait=wait)
    assert seen == [timedelta(seconds=30 + wait)]


def test_a_refusal_leaves_the_key_free(owner: Caller) -> None:
    assert speak(owner, speed="fast").status_code == 422
    assert speak(owner).status_code == 202


def test_a_failure_of_work_is_told_again_to_each_in_its_language(
    owner: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise SpeechFailed.of("told_to_fail", repeats=False, job_id="job_1")

    with monkeypatch.context() as patch:
        patch.setattr("synth.service.speak", fail)
        first = speak(owner)
    again, chinese = speak(owner), speak(owner, headers=CHINESE)
    assert (first.status_code, again.status_code) == (503, 503)
    assert (told_before(first), told_before(again), told_before(chinese)) == (False, True, True)
    assert {**problem(again), "request_id": 0} == {**problem(first), "request_id": 0}
    assert again["Retry-After"] == first["Retry-After"]
    assert problem(again)["job_id"] == "job_1"
    assert is_chinese(problem(chinese)["detail"])


@pytest.mark.parametrize(
    "error",
    [SpeechFailed.of("told_to_fail", repeats=True), ServiceUnavailable(retry_after=1), RuntimeError("a defect")],
    ids=repr,
)
def test_a_failure_that_left_no_job_leaves_the_key_free(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("synth.service.speak", fail)
        assert speak(owner).status_code in {422, 500, 503}
    answer = speak(owner)
    assert (answer.status_code, told_before(answer)) == (202, False)
