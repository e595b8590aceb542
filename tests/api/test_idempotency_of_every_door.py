"""Every `POST` of the API takes an `Idempotency-Key`."""

from __future__ import annotations

from typing import Any

import pytest

from synth import wiring
from synth.models import ClonedVoice, CurationAction, CurationBlock, LexiconWord, Policy
from synth.stored import upload_object
from tenants.models import OwnKey
from tests.api.caller import Caller, problem
from tests.api.repeating import KEY, TEXT, die_before_the_answer_is_kept, told_before
from tests.recordings import recording

pytestmark = pytest.mark.django_db


DOORS = [
    ("/v1/cache/purges", {"filter": {"voice": "nobody"}}, 200, CurationAction),
    ("/v1/cache/refreshes", {"filter": {"voice": "nobody"}}, 202, CurationAction),
    ("/v1/cache/pins", {"filter": {"voice": "nobody"}}, 200, CurationAction),
    ("/v1/cache/unpins", {"filter": {"voice": "nobody"}}, 200, CurationAction),
    ("/v1/cache/warmings", {"lines": [{"text": TEXT}]}, 202, CurationAction),
    ("/v1/batches", {"items": [{"text": TEXT}]}, 202, CurationAction),
    ("/v1/lexicon", {"text": "SQL", "alias": "sequel"}, 201, LexiconWord),
    ("/v1/policies", {"category": "news", "max_age": 60}, 201, Policy),
    ("/v1/encryption-keys", {"key": f"{'A' * 43}="}, 201, OwnKey),
]


@pytest.mark.parametrize(("path", "body", "status", "rows"), DOORS, ids=[path for path, *_ in DOORS])
def test_every_door_does_it_once(owner: Caller, path: str, body: dict[str, Any], status: int, rows: Any) -> None:
    def post(**changed: Any) -> Any:
        return owner.client.post(path, {**body, **changed}, content_type="application/json", headers=KEY)

    first, again = post(), post()
    assert (first.status_code, again.status_code) == (status, status)
    assert (told_before(first), told_before(again)) == (False, True)
    assert again.json() == first.json()
    assert (again.get("Location"), again.get("Retry-After")) == (first.get("Location"), first.get("Retry-After"))
    assert rows.objects.count() == 1
    changed = {"lines": [{"text": "Other."}]} if "lines" in body else {"unknown": 1}
    assert problem(post(**changed))["code"] == "idempotency_key_reused"


@pytest.mark.parametrize(("path", "body", "status", "rows"), DOORS, ids=[path for path, *_ in DOORS])
def test_a_dead_process_leaves_nothing_that_is_done_again(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, Any], status: int, rows: Any
) -> None:
    def post() -> Any:
        return owner.client.post(path, body, content_type="application/json", headers=KEY)

    first = die_before_the_answer_is_kept(monkeypatch, post)
    again = post()
    assert (again.status_code in {status, 200}, told_before(again)) == (True, False)
    assert again.json()["id"] == first.json()["id"]
    assert rows.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"text,seed\nHello.,99999999999999999999\n", "text/csv"),
        (b'{"lines": [' + b"[" * 300 + b"]" * 300 + b"]}", "application/json"),
    ],
    ids=["a number", "a depth"],
)
def test_a_line_that_is_told_of_breaks_no_list(owner: Caller, body: bytes, media_type: str) -> None:
    answer = owner.client.post("/v1/cache/warmings", body, content_type=media_type, headers=KEY)
    assert answer.status_code == 202


def test_a_list_of_which_not_all_was_stored_is_begun_anew(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def post() -> Any:
        body = {"lines": [{"text": TEXT}]}
        return owner.client.post("/v1/cache/warmings", body, content_type="application/json", headers=KEY)

    die_before_the_answer_is_kept(monkeypatch, post)
    CurationAction.objects.update(state="waiting")
    assert (post().status_code, CurationBlock.objects.count()) == (202, 1)
    assert CurationAction.objects.get().state == "queued"


def test_a_refusal_of_another_door_leaves_the_key_free(owner: Caller) -> None:
    def post(body: dict[str, Any]) -> int:
        return owner.client.post("/v1/lexicon", body, content_type="application/json", headers=KEY).status_code

    assert [post({"text": "SQL"}), post({"text": "SQL", "alias": "sequel"})] == [422, 201]


def upload(caller: Caller, boundary: str, data: bytes, *, name: str = "anna") -> Any:
    consent = '{"who": "Anna Li", "when": "2026-11-01", "wording": "Yes."}'
    fields = {"name": name, "language": "en", "engine": "counting", "consent": consent}
    parts = [f'Content-Disposition: form-data; name="{key}"\r\n\r\n{text}'.encode() for key, text in fields.items()]
    parts.append(
        b'Content-Disposition: form-data; name="file"; filename="' + boundary.encode() + b'.wav"\r\n\r\n' + data
    )
    body = b"".join(b"--" + boundary.encode() + b"\r\n" + part + b"\r\n" for part in parts)
    body += b"--" + boundary.encode() + b"--\r\n"
    return caller.client.generic(
        "POST", "/v1/voices", body, content_type=f"multipart/form-data; boundary={boundary}", headers=KEY
    )


def test_an_upload_is_the_same_whatever_its_boundary(owner: Caller) -> None:
    first, again = upload(owner, "aaa", recording(1)), upload(owner, "bbb", recording(1))
    assert (first.status_code, again.status_code, told_before(again)) == (202, 202, True)
    assert again.json() == first.json()
    assert upload(owner, "aaa", recording(2)).status_code == 422
    assert upload(owner, "aaa", recording(1), name="other").status_code == 422


@pytest.mark.parametrize("died", ["queued", "waiting"])
def test_a_dead_process_leaves_no_second_upload(owner: Caller, monkeypatch: pytest.MonkeyPatch, died: str) -> None:
    """It died when all was done but the answer, or before its file was stored."""
    first = die_before_the_answer_is_kept(monkeypatch, lambda: upload(owner, "aaa", recording(1)))
    ClonedVoice.objects.update(state=died)
    again = upload(owner, "aaa", recording(1))
    assert (again.status_code, again.json()["id"], told_before(again)) == (202, first.json()["id"], False)
    row = ClonedVoice.objects.get()
    assert row.state == "queued"
    assert wiring.object_store().get(upload_object(owner.member.ref, row.id)) == recording(1)


def test_an_upload_that_was_deleted_meanwhile_is_taken_in_anew(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    first = die_before_the_answer_is_kept(monkeypatch, lambda: upload(owner, "aaa", recording(1)))
    assert owner.delete(first.json()["href"]).status_code == 204
    assert upload(owner, "aaa", recording(1)).status_code == 202
    assert ClonedVoice.objects.exclude(state="canceled").get().state == "queued"
