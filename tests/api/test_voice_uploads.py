"""What a form that uploads a voice may not say, and that nothing is stored then."""

from __future__ import annotations

from typing import Any

import pytest

from synth.models import ClonedVoice
from tenants import service
from tests.api.caller import Caller, problem, refused_fields
from tests.recordings import CONSENT, form, recording

pytestmark = pytest.mark.django_db


def upload(owner: Caller, data: bytes | None = None, **fields: Any) -> Any:
    return owner.client.post("/v1/voices", form(data, **fields))


@pytest.mark.parametrize(
    "consent",
    [
        None,
        "",
        "yes",
        "[]",
        {},
        {**CONSENT, "who": ""},
        {**CONSENT, "wording": "  "},
        {"who": "a", "when": "2026-01-01"},
    ],
    ids=str,
)
def test_without_consent_nothing_is_stored(owner: Caller, consent: object):
    answer = upload(owner, consent=consent)
    assert (answer.status_code, answer.json()["code"]) == (422, "consent_required")
    assert not ClonedVoice.objects.exists()


def test_a_large_body_is_refused_before_it_is_read(owner: Caller, settings):
    settings.REFRAIN = {**settings.REFRAIN, "VOICE_UPLOAD_LIMIT": 10_000}
    answer = upload(owner)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert not ClonedVoice.objects.exists()


REFUSED = [
    ({"file": None}, {"file": "required"}),
    ({"file": "text"}, {"file": "not_a_file"}),
    ({"data": b""}, {"file": "empty_file"}),
    ({"name": None, "language": None}, {"name": "required", "language": "required"}),
    ({"name": "a/b"}, {"name": "not_allowed"}),
    ({"name": "vox_1"}, {"name": "not_allowed"}),
    ({"name": "  "}, {"name": "not_allowed"}),
    ({"name": "n" * 65}, {"name": "too_long"}),
    ({"name": "counting_a"}, {"name": "name_taken"}),
    ({"name": "plain_a"}, {"name": "name_taken"}),
    ({"engine": "plain"}, {"engine": "cannot_clone"}),
    ({"engine": "nobody"}, {"engine": "cannot_clone"}),
    ({"language": "fr"}, {"language": "unsupported_language"}),
    ({"transcript": "x" * 1001}, {"transcript": "too_long"}),
    ({"speed": "1"}, {"speed": "unknown_field"}),
    ({"consent": {**CONSENT, "when": "yesterday"}}, {"consent.when": "invalid"}),
    ({"consent": {**CONSENT, "when": "2999-01-01"}}, {"consent.when": "out_of_range"}),
    ({"consent": {**CONSENT, "where": "here"}}, {"consent.where": "unknown_field"}),
    ({"consent": {**CONSENT, "who": "w" * 201}}, {"consent.who": "too_long"}),
]


@pytest.mark.parametrize(("fields", "expected"), REFUSED, ids=str)
def test_what_a_form_may_not_say(owner: Caller, fields: dict[str, object], expected: dict[str, str]):
    answer = upload(owner, **fields)
    assert refused_fields(answer) == expected
    assert not ClonedVoice.objects.exists()


def test_engines_that_clone_are_named(owner: Caller):
    assert "counting" in upload(owner, engine="plain").json()["detail"]


def test_the_preferred_engine_is_taken_where_none_is_named(owner: Caller):
    assert upload(owner, engine=None, language="zh-CN").json()["engine"] == "counting"


def test_json_is_no_form(owner: Caller):
    answer = owner.client.post("/v1/voices", {"name": "anna"}, content_type="application/json")
    assert (answer.status_code, problem(answer)["code"]) == (415, "unsupported_media_type")
    assert "multipart/form-data" in problem(answer)["detail"]


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=x"])
def test_a_form_that_cannot_be_read_is_refused(owner: Caller, content_type: str):
    answer = owner.client.post("/v1/voices", b"nonsense", content_type=content_type)
    assert answer.status_code in {400, 422}
    assert problem(answer)


@pytest.mark.parametrize("quota", ["max_voices", "max_storage"])
def test_beyond_a_quota_none_is_taken(owner: Caller, quota: str):
    assert upload(owner).status_code == 202
    service.limit_quotas(owner.member.tenant, **{quota: 1})
    answer = upload(owner, name="another", data=recording(2))
    body = problem(answer)
    assert (answer.status_code, body["code"], body["quota"], body["limit"]) == (429, "quota_exceeded", quota, 1)
    assert "Retry-After" not in answer
    assert ClonedVoice.objects.count() == 1
