"""What POST /v1/speech answers: 202 with a job while it is made, 200 with the audio in the form that was asked for."""

import base64
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from synth import wiring
from synth.keys import object_name
from synth.models import EngineCardRow, Job
from tenants.versions import raise_versions
from tests.api.caller import Caller, content, problem
from tests.finished import finish

pytestmark = pytest.mark.django_db

TEXT = "Hello there."
MEMBERS = {
    *(
        "id",
        "object",
        "status",
        "from_cache",
        "cache",
        "age",
        "format",
        "media_type",
        "sample_rate",
        "duration",
        "size",
    ),
    *("sha256", "time_stretched", "bitrate", "characters", "engine", "voice", "language", "request_id"),
}


def test_what_is_not_known_yet_gets_202_with_the_jobs_address(owner: Caller) -> None:
    response = owner.speak(text=TEXT, metadata={"user": 7}, category="greeting")
    body = response.json()
    assert response.status_code == 202
    assert response["Location"] == body["href"] == f"/v1/speech/{body['id']}"
    assert int(response["Retry-After"]) == body["retry_after"] > 0
    assert (body["status"], body["characters"], body["engine"]) == ("queued", len(TEXT), "counting")
    assert body["request_id"] == response["X-Request-Id"]
    job = owner.get(response["Location"]).json()
    assert (job["id"], job["metadata"], job["category"]) == (body["id"], {"user": 7}, "greeting")


def test_a_hit_by_url(owner: Caller) -> None:
    done = finish(owner.member, {"text": TEXT})
    response = owner.speak(text=TEXT)
    body = response.json()
    assert response.status_code == 200
    assert body.keys() == MEMBERS | {"url", "url_expires_at"}
    assert (body["from_cache"], body["id"], body["sha256"]) == (True, done.entry_id, done.digest)
    assert (body["size"], body["duration"], body["characters"]) == (len(done.data), 1.25, len(TEXT))
    assert (body["media_type"], body["bitrate"], body["sample_rate"]) == ("audio/mpeg", 64, 24_000)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", body["url_expires_at"])
    assert body["request_id"] == response["X-Request-Id"]
    url = urlsplit(body["url"])
    assert content(Client().get(f"{url.path}?{url.query}")) == done.data


def test_the_catalogue_restores_what_the_cache_lost_and_then_it_is_a_hit(owner: Caller) -> None:
    finish(owner.member, {"text": TEXT})
    assert [owner.speak(text=TEXT).json()["cache"] for _ in range(3)] == ["restored", "hit", "hit"]
    assert Job.objects.count() == 1


def test_a_hit_inline(owner: Caller) -> None:
    done = finish(owner.member, {"text": TEXT})
    for _ in range(2):
        body = owner.speak(text=TEXT, delivery="inline").json()
        assert body.keys() == MEMBERS | {"audio"}
        assert base64.b64decode(body["audio"], validate=True) == done.data


@pytest.mark.parametrize(
    ("fields", "media_type"),
    [
        ({}, "audio/mpeg"),
        ({"format": "opus"}, "audio/ogg;codecs=opus"),
        ({"format": "wav"}, "audio/wav"),
        ({"format": "flac"}, "audio/flac"),
        ({"format": "pcm", "sample_rate": 16000}, "audio/pcm;rate=16000"),
    ],
    ids=str,
)
def test_a_hit_as_bytes(owner: Caller, fields: dict[str, Any], media_type: str) -> None:
    done = finish(owner.member, {"text": TEXT, **fields})
    for state in ("restored", "hit"):
        response = owner.speak(text=TEXT, delivery="binary", **fields)
        assert (response.status_code, response.content) == (200, done.data)
        assert response["Content-Type"] == media_type
        assert response["Content-Length"] == str(len(done.data))
        assert response["ETag"] == f'"{done.digest}"'
        assert (response["X-Speech-Id"], response["X-Cache"]) == (done.entry_id, state)
        assert (response["X-Audio-Duration"], response["X-Characters"]) == ("1.250", str(len(TEXT)))
        assert int(response["Age"]) >= 0
        assert response["X-Request-Id"].startswith("req_")
        assert not response.has_header("Content-Language")
        assert not response.has_header("Vary")


def test_the_id_of_any_answer_is_what_audio_takes(owner: Caller) -> None:
    done = finish(owner.member, {"text": TEXT})
    for speech_id in (owner.speak(text=TEXT).json()["id"], done.job.public_id):
        assert content(owner.get(f"/v1/speech/{speech_id}/audio")) == done.data


def test_delivery_category_and_metadata_do_not_make_another_sound(owner: Caller) -> None:
    finish(owner.member, {"text": TEXT})
    assert owner.speak(text=TEXT, category="x", metadata={"a": 1}, delivery="inline").json()["from_cache"]


@pytest.mark.parametrize("mode", ["refresh", "bypass"])
def test_a_request_that_wants_no_cache_is_work(owner: Caller, mode: str) -> None:
    finish(owner.member, {"text": TEXT})
    assert owner.speak(text=TEXT, cache=mode).status_code == 202


@pytest.mark.parametrize("delivery", ["inline", "binary"])
def test_audio_that_storage_lost_is_made_again(owner: Caller, delivery: str) -> None:
    done = finish(owner.member, {"text": TEXT})
    wiring.object_store().delete(object_name(owner.member.ref, done.digest, "mp3"))
    assert owner.speak(text=TEXT, delivery=delivery).status_code == 202
    assert owner.speak(text=TEXT, delivery="url").status_code == 202  # what is lost is not promised either


def test_without_an_engine_it_says_so(owner: Caller) -> None:
    EngineCardRow.objects.all().delete()
    raise_versions()
    response = owner.speak(text=TEXT)
    assert (response.status_code, problem(response)["code"]) == (503, "no_engine")
    assert int(response["Retry-After"]) > 0
