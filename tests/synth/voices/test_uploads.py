"""An upload becomes a voice of its tenant: with consent, decoded by a worker, once for each sound."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from synth import service, wiring
from synth.errors import StorageUnavailable
from synth.models import ClonedVoice, VoiceEvent, VoiceSettings
from tests.recordings import CONSENT, recording
from tests.synth.queue.desk import WORKER
from tests.synth.voices.conftest import Cloner


def kinds() -> list[str]:
    return list(VoiceEvent.objects.order_by("created_at", "id").values_list("kind", flat=True))


def files(tmp_path: Path) -> list[str]:
    root = tmp_path / "audio"
    found = (path for path in root.rglob("*") if path.is_file() and "voices" in path.parts)
    return sorted(path.name for path in found if not path.name.startswith("."))


def test_it_waits_until_a_worker_has_decoded_it(owner: Cloner):
    answer = owner.upload(transcript=" Hello \n there. ")
    told = answer.json()
    assert (answer.status_code, told["state"], told["fingerprint"]) == (202, "pending", None)
    assert answer["Location"] == told["href"] == f"/v1/voices/{told['id']}"
    owner.decode()
    ready = owner.get(told["href"])
    assert (ready["state"], ready["reason"], ready["seconds"], ready["sample_rate"]) == ("ready", None, 3.5, 16_000)
    assert re.fullmatch("ref:[0-9a-f]{32}", ready["fingerprint"])
    assert ready["transcript"] == "Hello there."
    assert ready["languages"] == ["en", "zh", "ja", "ko"]
    assert ready["consent"] == CONSENT
    assert owner.voices() == [ready]


def test_who_allowed_it_is_kept_with_its_event(owner: Cloner):
    told = owner.clone()
    created, ready = VoiceEvent.objects.order_by("created_at", "id")
    assert (created.kind, ready.kind) == ("created", "ready")
    assert created.details["consent"] == CONSENT
    assert (created.api_key_id, created.request_id) == (owner.member.key.id, told["request_id"])
    assert created.voice_public_id == told["id"]


def test_the_upload_is_deleted_once_it_is_decoded_unless_the_tenant_keeps_it(owner: Cloner, tmp_path):
    owner.clone()
    digest = ClonedVoice.objects.get().digest
    assert files(tmp_path) == [f"{digest}.flac"]
    VoiceSettings.objects.create(tenant=owner.member.tenant, keep_uploads=True)
    kept = owner.clone(recording(2), name="kept")
    row = ClonedVoice.objects.get(name="kept")
    assert files(tmp_path) == sorted([f"{digest}.flac", f"{row.digest}.flac", "upload"])
    assert kept["state"] == "ready"


def test_the_same_file_again_is_the_voice_that_is_there(owner: Cloner):
    told = owner.clone()
    answer = owner.upload(name="another name", consent={**CONSENT, "who": "Ben"})
    assert (answer.status_code, answer.json()) == (200, told)
    assert kinds() == ["created", "ready", "repeated"]
    assert VoiceEvent.objects.get(kind="repeated").details["consent"]["who"] == "Ben"


@pytest.mark.parametrize("name", ["anna", "another name"])
def test_the_same_sound_in_another_file_is_the_voice_that_is_there(owner: Cloner, name: str, tmp_path):
    told = owner.clone()
    before = files(tmp_path)
    answer = owner.upload(recording(container="FLAC"), name=name)
    assert answer.json()["id"] != told["id"]
    owner.decode()
    assert owner.get(answer.json()["href"]) == told
    assert owner.voices() == [told]
    assert files(tmp_path) == before


def test_with_other_words_told_of_it_it_is_another_voice(owner: Cloner):
    first = owner.clone(transcript="Hello.")
    second = owner.clone(transcript="Good evening.", name="other")
    assert first["fingerprint"] != second["fingerprint"]
    assert len(owner.voices()) == 2


def test_two_tenants_may_have_the_same_voice(owner: Cloner, stranger: Cloner):
    ours, theirs = owner.clone(), stranger.clone()
    assert (ours["state"], theirs["state"]) == ("ready", "ready")
    assert ours["id"] != theirs["id"]


def test_another_sound_of_a_name_that_is_taken_is_refused(owner: Cloner, tmp_path):
    owner.clone()
    before = files(tmp_path)
    told = owner.clone(recording(2))
    assert (told["state"], told["reason"]["code"]) == ("refused", "name_taken")
    assert "anna" in told["reason"]["message"]
    assert files(tmp_path) == before


def test_what_is_no_recording_is_refused_with_its_reason(owner: Cloner, tmp_path):
    told = owner.clone(b"RIFF" + bytes(2_000))
    assert (told["state"], told["fingerprint"]) == ("refused", None)
    assert told["reason"]["code"]
    assert "%(" not in told["reason"]["message"]
    short = owner.clone(recording(seconds=1.5), name="short")
    assert short["reason"]["code"] == "too_short"
    assert files(tmp_path) == []
    assert kinds() == ["created", "refused"] * 2
    assert [voice["id"] for voice in owner.voices()] == [short["id"], told["id"]]
    assert owner.delete(told) == 204
    assert [voice["id"] for voice in owner.voices()] == [short["id"]]


def test_a_refusal_is_told_in_the_callers_language_once_it_is_translated(owner: Cloner):
    told = owner.clone(recording(seconds=1.5))
    answer = owner.client.get(told["href"], headers={"Accept-Language": "zh-CN"})
    assert answer.json()["reason"]["code"] == "too_short"


def test_a_worker_that_died_loses_no_upload(owner: Cloner, monkeypatch):
    told = owner.upload().json()

    def dies(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("synth.service.voice_work.read_reference_apart", dies)
        with pytest.raises(KeyboardInterrupt):
            service.drain_voices(WORKER)
    assert owner.get(told["href"])["state"] == "pending"
    ClonedVoice.objects.update(lease_until="2020-01-01T00:00:00Z")
    owner.decode()
    assert owner.get(told["href"])["state"] == "ready"
    assert ClonedVoice.objects.get().attempt == 2


def test_storage_that_is_away_takes_no_upload_and_leaves_nothing(owner: Cloner, monkeypatch):
    def away(*_: object) -> None:
        raise StorageUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(wiring.object_store(), "put", away)
        answer = owner.upload()
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
    assert owner.voices() == []
    owner.decode()
    assert not ClonedVoice.objects.exists()


def test_an_upload_whose_process_died_is_given_up(owner: Cloner):
    owner.upload()
    ClonedVoice.objects.update(state="waiting", created_at="2020-01-01T00:00:00Z")
    assert owner.voices() == []
    service.sweep()
    owner.decode()
    assert not ClonedVoice.objects.exists()


def test_there_is_a_bound(owner: Cloner, monkeypatch):
    monkeypatch.setattr("synth.service.voices.MOST_VOICES", 1)
    owner.clone()
    answer = owner.upload(recording(2), name="second")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_voices")
