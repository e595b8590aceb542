"""GET /v1/speech/{id}/audio: the bytes with Range, ETag and HEAD, for jobs and entries, and why there are none."""

import pytest
from django.utils import timezone

from synth.models import Job
from synth.models.states import State
from tests.api.caller import CHINESE, Caller, content, is_chinese, problem
from tests.finished import Finished, finish, queue

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def done(owner: Caller) -> Finished:
    return finish(owner.member, {"text": "Hello there."})


@pytest.fixture(params=["job", "entry"])
def path(request: pytest.FixtureRequest, done: Finished) -> str:
    speech_id = done.job.public_id if request.param == "job" else done.entry_id
    return f"/v1/speech/{speech_id}/audio"


def test_it_is_the_audio(owner: Caller, done: Finished, path: str) -> None:
    response = owner.get(path)
    assert (response.status_code, content(response)) == (200, done.data)
    assert response["Content-Type"] == "audio/mpeg"
    assert response["Content-Length"] == str(len(done.data))
    assert response["ETag"] == f'"{done.digest}"'
    assert response["Accept-Ranges"] == "bytes"
    assert "private" in response["Cache-Control"]
    assert response["X-Content-Type-Options"] == "nosniff"


def test_head_tells_the_same_without_the_bytes(owner: Caller, path: str) -> None:
    got, head = owner.get(path), owner.head(path)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Type", "Content-Length", "ETag", "Accept-Ranges", "Cache-Control", "Content-Disposition"):
        assert head[name] == got[name], name


def test_a_range_is_a_part(owner: Caller, done: Finished, path: str) -> None:
    response = owner.get(path, Range="bytes=10-19")
    assert (response.status_code, content(response)) == (206, done.data[10:20])
    assert response["Content-Range"] == f"bytes 10-19/{len(done.data)}"
    assert content(owner.get(path, Range="bytes=-7")) == done.data[-7:]


def test_a_range_beyond_the_end_is_a_problem_that_tells_the_size(owner: Caller, done: Finished, path: str) -> None:
    response = owner.get(path, Range=f"bytes={len(done.data)}-", **CHINESE)
    assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{len(done.data)}")
    body = problem(response)
    assert body["code"] == "range_not_satisfiable"
    assert is_chinese(body["detail"])


def test_who_holds_it_gets_304(owner: Caller, done: Finished, path: str) -> None:
    response = owner.get(path, If_None_Match=f'"{done.digest}"')
    assert (response.status_code, response.content) == (304, b"")
    assert response["ETag"] == f'"{done.digest}"'
    # A cache takes the headers of a 304 for those of what it holds.
    assert response.get("Content-Type", "audio/mpeg") == "audio/mpeg"


def test_who_names_another_gets_412(owner: Caller, path: str) -> None:
    response = owner.get(path, If_Match='"another"')
    assert (response.status_code, problem(response)["code"]) == (412, "precondition_failed")


@pytest.mark.parametrize("accept", ["audio/mpeg", "audio/*;q=0.9", "image/png", "nonsense"])
def test_a_player_may_ask_for_audio(owner: Caller, done: Finished, accept: str) -> None:
    assert owner.get(f"/v1/speech/{done.entry_id}/audio", Accept=accept).status_code == 200


@pytest.mark.parametrize(
    "headers", [{}, {"Range": "bytes=0-4"}, {"If-None-Match": "*"}], ids=["whole", "part", "not modified"]
)
def test_audio_depends_on_no_language(owner: Caller, done: Finished, headers: dict[str, str]) -> None:
    response = owner.get(f"/v1/speech/{done.entry_id}/audio", **CHINESE, **headers)
    assert response.status_code < 400
    assert not response.has_header("Content-Language")
    assert "Accept-Language" not in response.get("Vary", "")


def test_a_refusal_does_depend_on_it(owner: Caller) -> None:
    response = owner.get("/v1/speech/job_x/audio", **CHINESE)
    assert response["Content-Language"] == "zh-hans"
    assert "Accept-Language" in response["Vary"]


def test_what_is_still_being_made_says_when_to_ask_again(owner: Caller) -> None:
    job = queue(owner.member, {"text": "Hello there."})
    response = owner.get(f"/v1/speech/{job.public_id}/audio")
    assert (response.status_code, problem(response)["code"]) == (409, "not_ready")
    assert int(response["Retry-After"]) > 0


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELED])
def test_what_was_not_made_is_not_found(owner: Caller, state: State) -> None:
    job = queue(owner.member, {"text": "Hello there."})
    Job.objects.filter(id=job.id).update(state=state, ended_at=timezone.now())
    assert owner.get(f"/v1/speech/{job.public_id}/audio").status_code == 404
