"""Bodies that are no JSON object in UTF-8: refused with a 4xx that says so, never with a 500."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.spec import FIELDS as FIELD_NAMES
from tests.api.caller import Caller, problem, refused_fields

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"hello",
        b"{'text': 'a'}",
        b'{"text": "a"} {}',
        b'{"text": "\xff\xfe"}',
        '{"text": "a"}'.encode("utf-16"),
        b'{"text": "\\ud800"}',
        b'{"text": "a", "speed": NaN}',
        b'{"text": "a", "speed": Infinity}',
        b'{"text": "a", "speed": 1e999}',
        b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=lambda body: str(body)[:40],
)
def test_what_is_no_json_gets_400(owner: Caller, body: bytes) -> None:
    response = owner.post_bytes(body)
    assert response.status_code == 400
    assert problem(response)["code"] == "bad_json"


@pytest.mark.parametrize("body", [b"null", b"[]", b'"text"', b"1", b"true", b'[{"text": "a"}]'])
def test_json_that_is_no_object_is_refused(owner: Caller, body: bytes) -> None:
    assert refused_fields(owner.post_bytes(body)) == {"": "not_an_object"}


def test_of_a_field_given_twice_the_last_counts(owner: Caller) -> None:
    response = owner.post_bytes(b'{"text": "", "text": "Hello", "wait": 0}')
    assert (response.status_code, response.json()["characters"]) == (202, 5)


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])
def test_another_media_type_gets_415(owner: Caller, content_type: str) -> None:
    response = owner.post_bytes(b'{"text": "Hello", "wait": 0}', content_type)
    assert response.status_code == 415
    assert problem(response)["code"] == "unsupported_media_type"


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON", ""])
def test_json_is_known_by_any_spelling_and_taken_when_nothing_is_said(owner: Caller, content_type: str) -> None:
    assert owner.post_bytes(b'{"text": "Hello", "wait": 0}', content_type).status_code == 202


def test_a_body_beyond_the_limit_gets_413(owner: Caller) -> None:
    response = owner.post_bytes(b'{"text": "' + b"a" * 2_700_000 + b'"}')
    assert response.status_code == 413
    assert problem(response)["code"] == "body_too_large"


def test_the_longest_text_fits_however_it_is_escaped(owner: Caller) -> None:
    escaped = b"\\ud83d\\ude00" * 99_999
    response = owner.post_bytes(b'{"wait": 0, "text": "a' + escaped + b'"}')
    assert response.status_code == 202, response.content[:200]


NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(sorted(FIELD_NAMES - {"wait"}))
EMOTIONS = st.dictionaries(st.sampled_from(["name", "vector", "text", "reference", "strength"]), JSON, max_size=3)
PRONUNCIATIONS = st.lists(st.dictionaries(st.sampled_from(["text", "pinyin", "ipa", "alias"]), JSON, max_size=3))
BODIES = st.dictionaries(FIELDS, JSON | EMOTIONS | PRONUNCIATIONS, max_size=4)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=BODIES, voice=st.sampled_from(["actor_a", "plain_a", "counting_a"]))
def test_no_value_of_any_field_is_a_500(owner: Caller, body: dict[str, object], voice: str) -> None:
    response = owner.speak({"voice": voice, **body})
    assert response.status_code in {202, 422}, response.content
    if response.status_code == 422:
        problem(response)
