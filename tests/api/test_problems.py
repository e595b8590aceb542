"""Whatever goes wrong under /v1/ and /files/ is told in one form, in the caller's language, and leaks nothing."""

import logging

import pytest
from django.db import OperationalError, connection
from django.test import Client, override_settings

from synth import selectors
from tests.api.caller import Caller, is_chinese, problem

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v1/nothing", "/v1/speech/", "/v1/voices/x", "/v1/speech/a/b/c", "/x"]
)
@pytest.mark.parametrize("debug", [False, True])
def test_an_unknown_address_is_a_problem(owner: Caller, path: str, debug: bool) -> None:
    with override_settings(DEBUG=debug and path.startswith("/v1/")):
        response = owner.get(path)
    assert (response.status_code, problem(response)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("accepted", "chinese"),
    [
        ("zh", True),
        ("zh-CN", True),
        ("zh-Hans", True),
        ("zh-Hans-CN", True),
        ("zh-SG,en;q=0.5", True),
        ("en;q=0.5,zh;q=0.9", True),
        ("en", False),
        ("en-GB,zh;q=0.5", False),
        ("fr", False),
        ("*", False),
        ("", False),
        ("\u00ff;;q=x", False),
    ],
)
def test_the_language_is_what_accept_language_prefers(accepted: str, chinese: bool) -> None:
    response = Client().get("/v1/speech", headers={"Accept-Language": accepted})
    body = problem(response)
    assert (is_chinese(body["title"]), is_chinese(body["detail"])) == (chinese, chinese)
    assert body["code"] == "unauthenticated"
    assert response["Content-Language"] == ("zh-hans" if chinese else "en")


def test_a_defect_is_a_500_that_tells_nothing_but_its_request_id(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **options: object) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(selectors, "cards", broken)
    monkeypatch.setattr("synth.api.speech.read_request", broken)
    for response in (owner.get("/v1/voices"), owner.speak()):
        assert (response.status_code, problem(response)["code"]) == (500, "internal_error")
        assert b"secret" not in response.content
        assert b"RuntimeError" not in response.content
    assert [record.levelno for record in caplog.records if "failed" in record.message] == [logging.ERROR] * 2


def test_a_database_that_is_away_is_a_503_that_asks_to_come_back(
    owner: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*args: object) -> None:
        raise OperationalError("could not connect to db.internal")

    for ask in (lambda: owner.get("/v1/voices"), lambda: owner.speak(text="Nobody has said this before.")):
        with connection.execute_wrapper(away):
            response = ask()
        assert (response.status_code, problem(response)["code"]) == (503, "unavailable")
        assert int(response["Retry-After"]) > 0
        assert b"internal" not in response.content
    assert [record.levelno for record in caplog.records if "database" in record.message] == [logging.ERROR] * 2


def test_a_host_that_is_not_ours_is_a_problem_too() -> None:
    response = Client().get("/v1/speech", headers={"Host": "elsewhere.example"})
    assert response.status_code == 400
    problem(response)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_signed_addresses_are_read_only(method: str) -> None:
    response = Client().generic(method, "/files/a/b.mp3")
    assert (response.status_code, problem(response)["code"]) == (405, "method_not_allowed")
    assert {name.strip() for name in response["Allow"].split(",")} == {"GET", "HEAD"}


def test_an_altered_signature_is_a_problem() -> None:
    response = Client().get("/files/a/b.mp3?expires=9999999999&signature=x", headers={"Accept-Language": "zh"})
    body = problem(response)
    assert (response.status_code, body["code"]) == (403, "url_invalid")
    assert is_chinese(body["detail"])


def test_what_accept_does_not_allow_is_a_problem(owner: Caller) -> None:
    response = owner.get("/v1/voices", Accept="text/html")
    assert (response.status_code, problem(response)["code"]) == (406, "not_acceptable")


def test_every_answer_has_a_request_id_of_its_own(owner: Caller) -> None:
    ids = {owner.get(path)["X-Request-Id"] for path in ("/v1/voices", "/v1/engines", "/v1/nothing", "/healthz")}
    assert len(ids) == 4
