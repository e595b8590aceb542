"""An upload that has become a voice, or was refused, is told to its tenant in the transaction that ends it."""

from __future__ import annotations

import pytest

from synth.models import ClonedVoice, WebhookEvent
from synth.service import voice_work
from tests.recordings import recording
from tests.synth.queue.desk import WORKER
from tests.synth.voices.conftest import Cloner


def told() -> list[WebhookEvent]:
    return list(WebhookEvent.objects.order_by("created_at", "id"))


def test_a_ready_voice_is_told_to_its_tenant_alone(owner: Cloner):
    upload = owner.upload().json()
    assert told() == []
    owner.decode()
    (event,) = told()
    assert (event.type, event.subject, event.tenant) == ("voice.ready", upload["id"], owner.member.tenant)
    assert (event.endpoint, event.url) == (None, "")
    assert event.data == {"id": upload["id"], "href": upload["href"], "engine": upload["engine"], "name": "anna"}


def test_a_refused_one_is_told_with_its_reason(owner: Cloner):
    voice = owner.clone(recording(seconds=1.5))
    (event,) = told()
    assert (event.type, event.subject) == ("voice.failed", voice["id"])
    assert event.data["error"] == voice["reason"]
    assert event.data["name"] == "anna"


def test_a_sound_that_is_a_voice_already_is_ready_under_that_ones_name(owner: Cloner):
    owner.clone()
    again = owner.upload(recording(container="FLAC"), name="another name").json()
    owner.decode()
    _first, event = told()
    assert (event.type, event.subject, event.data["name"]) == ("voice.ready", again["id"], "anna")
    assert owner.get(event.data["href"])["state"] == "ready"


def test_a_name_that_is_taken_is_told_once_with_the_name_in_its_message(owner: Cloner):
    owner.clone()
    owner.clone(recording(2))
    _first, event = told()
    assert (event.type, event.data["error"]["code"]) == ("voice.failed", "name_taken")
    assert "anna" in event.data["error"]["message"]


def test_what_is_not_committed_is_not_told(owner: Cloner, monkeypatch: pytest.MonkeyPatch):
    """The event belongs to the transaction: when that fails, there is neither voice nor event."""
    owner.upload()

    def breaks(*_: object) -> None:
        raise RuntimeError("after the event was noted")

    with monkeypatch.context() as patch:
        patch.setattr(voice_work, "raise_versions", breaks)
        voice_work.drain_voices(WORKER)
    assert told() == []
    owner.decode()
    assert [event.type for event in told()] == ["voice.ready"]


def test_a_deleted_upload_is_not_told_of(owner: Cloner):
    upload = owner.upload().json()
    assert owner.delete(upload) == 204
    owner.decode()
    assert told() == []
    assert not ClonedVoice.objects.exists()
