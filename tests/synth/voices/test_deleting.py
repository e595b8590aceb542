"""A deleted voice speaks no more from the next request on, and nothing that it said or was is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from synth import service, wiring
from synth.errors import StorageUnavailable
from synth.keys import Kind, redis_key
from synth.models import ClonedVoice, DiscardedObject, Entry, Job, Rendering, Synthesis, VoiceEvent
from synth.service import erasing
from tests.recordings import recording
from tests.synth.queue.desk import WORKER
from tests.synth.voices.conftest import Cloner

TEXT = "Hello there. How are you?"


def objects(tmp_path: Path) -> set[str]:
    return {path.name for path in (tmp_path / "audio").rglob("*") if path.is_file()}


def test_nothing_answers_any_more_in_any_process(owner: Cloner, another_process: Client):
    voice = owner.clone()
    told = owner.speak(TEXT, voice="anna")
    body = {"text": TEXT, "voice": "anna", "format": "wav", "wait": 0}
    for by_express in (False, True):
        answer = another_process.post("/v1/speech", body, content_type="application/json")
        assert (answer.status_code, answer.by_express) == (200, by_express)
    assert owner.delete(voice) == 204
    refused = another_process.post("/v1/speech", body, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_voice")
    assert owner.client.get(f"/v1/speech/{told['id']}").status_code == 404
    assert owner.client.get(f"/v1/speech/{told['id']}/audio").status_code == 404
    assert owner.client.get(f"/v1/voices/{voice['id']}").status_code == 404
    assert owner.delete(voice) == 404
    assert owner.voices() == []


def test_its_sound_and_all_that_it_said_are_gone_at_once(owner: Cloner, tmp_path, redis_server):
    owner.speak(TEXT, voice="counting_a")
    before = objects(tmp_path)
    voice = owner.clone()
    owner.speak(TEXT, voice="anna")
    owner.ask(TEXT, voice="anna", cache="bypass")
    owner.ask(TEXT, voice="anna", format="opus")
    owner.work()
    job = Job.objects.latest("id")
    key = Entry.objects.filter(kind="rendition", voice="anna").first().key
    assert owner.delete(voice) == 204
    assert objects(tmp_path) == before
    assert not Entry.objects.filter(voice="anna").exists()
    assert not Entry.with_purged.filter(voice="anna").exclude(text="").exists()
    assert not ClonedVoice.objects.exists()
    assert not DiscardedObject.objects.filter(
        digest__in=Entry.with_purged.filter(voice="anna").values("digest")
    ).exists()
    with redis_server.client() as redis:
        assert not redis.exists(*(redis_key(owner.member.ref, kind, key) for kind in (Kind.ENTRY, Kind.AUDIO)))
    told = owner.get(f"/v1/speech/{job.public_id}")
    assert (told["status"], told["audio"]) == ("succeeded", None)
    assert owner.client.get(f"/v1/speech/{job.public_id}/audio").status_code == 404
    assert owner.how(TEXT, voice="counting_a") == "hit"


def test_the_audit_says_so(owner: Cloner):
    voice = owner.clone()
    owner.delete(voice)
    created, _, deleted, erased = VoiceEvent.objects.order_by("created_at", "id")
    assert (deleted.kind, erased.kind) == ("deleted", "erased")
    assert {event.fingerprint for event in (deleted, erased)} == {voice["fingerprint"]}
    assert (deleted.api_key_id, deleted.voice_id) == (owner.member.key.id, created.voice_id)
    assert deleted.request_id.startswith("req_")


def test_open_work_with_it_fails(owner: Cloner):
    voice = owner.clone()
    job = owner.ask(TEXT, voice="anna").json()
    other = owner.ask(TEXT, voice="counting_a").json()
    owner.delete(voice)
    told = owner.get(job["href"])
    assert (told["status"], told["error"]) == ("failed", {"code": "voice_gone"})
    assert set(Synthesis.objects.filter(state="failed").values_list("error_code", flat=True)) == {"voice_gone"}
    owner.work()
    assert owner.get(other["href"])["status"] == "succeeded"


def test_open_work_with_its_emotion_fails_too(owner: Cloner):
    voice = owner.clone()
    job = owner.ask(TEXT, voice="actor/actor_a", emotion={"reference": "anna"})
    assert job.status_code == 202, job.content
    owner.delete(voice)
    told = owner.get(job.json()["href"])
    assert (told["status"], told["error"]) == ("failed", {"code": "voice_gone"})


def test_anothers_speech_by_the_same_recording_stays(owner: Cloner, stranger: Cloner):
    ours, theirs = owner.clone(), stranger.clone()
    for member in (owner, stranger):
        member.speak(TEXT, voice="anna")
    assert ours["fingerprint"] == theirs["fingerprint"]
    owner.delete(ours)
    assert stranger.how(TEXT, voice="anna") == "hit"
    assert stranger.voices() == [theirs]


def test_the_same_recording_may_come_back_and_begins_anew(owner: Cloner, log):
    owner.delete(owner.clone())
    voice = owner.clone()
    assert voice["state"] == "ready"
    assert owner.how(TEXT, voice="anna") == "miss"
    owner.work()
    assert owner.how(TEXT, voice="anna") == "hit"


def test_storage_that_is_away_keeps_nobody_waiting_and_is_seen_to_later(owner: Cloner, tmp_path, monkeypatch):
    voice = owner.clone()

    def away(*_: object) -> None:
        raise StorageUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(wiring.object_store(), "delete", away)
        assert owner.delete(voice) == 204
    assert owner.client.get(f"/v1/voices/{voice['id']}").status_code == 404
    assert len(objects(tmp_path)) == 1
    service.drain_voices(WORKER)
    assert objects(tmp_path) == set()
    assert not ClonedVoice.objects.exists()


@pytest.mark.parametrize("delivery", ["url", "binary"])
def test_nor_does_an_answer_that_is_given_again_tell_it_meanwhile(owner: Cloner, monkeypatch, delivery: str):
    def ask() -> Any:
        body = {"text": TEXT, "voice": "anna", "format": "wav", "delivery": delivery}
        return owner.client.post("/v1/speech", body, "application/json", headers={"Idempotency-Key": "one"})

    def away(*_: object) -> None:
        raise StorageUnavailable("away")

    voice = owner.clone()
    owner.speak(TEXT, voice="anna")
    assert [ask().status_code for _ in range(2)] == [200, 200]
    monkeypatch.setattr(wiring.object_store(), "delete", away)
    owner.delete(voice)
    refused = ask()
    assert (refused.status_code, refused.json()["code"]) == (422, "voice_gone")


def test_a_voice_that_said_much_is_erased_by_workers(owner: Cloner, monkeypatch: Any):
    voice = owner.clone()
    for number in range(3):
        owner.speak(f"Sentence {number}.", voice="anna")
    with monkeypatch.context() as patch:
        patch.setattr(erasing, "CHUNK", 1)
        patch.setattr(erasing, "SECONDS", 0.0)
        assert owner.delete(voice) == 204
        assert Entry.objects.filter(voice="anna").exists()
    assert owner.ask("Sentence 1.", voice="anna").json()["code"] == "unknown_voice"
    service.drain_voices(WORKER)
    assert not Entry.objects.filter(voice="anna").exists()
    assert not Rendering.objects.exclude(digest="").exists()


def test_an_upload_may_be_deleted_before_it_is_decoded(owner: Cloner, tmp_path):
    told = owner.upload(recording(3)).json()
    assert owner.delete(told) == 204
    owner.decode()
    assert objects(tmp_path) == set()
    assert list(VoiceEvent.objects.order_by("created_at", "id").values_list("kind", flat=True)) == [
        "created",
        "deleted",
    ]


def test_one_that_is_deleted_while_it_is_decoded_leaves_nothing(owner: Cloner, tmp_path, monkeypatch):
    from synth.audio.apart import read_reference_apart

    told = owner.upload().json()

    def read(data: bytes, **options: Any) -> Any:
        audio = read_reference_apart(data, **options)
        assert owner.delete(told) == 204
        return audio

    monkeypatch.setattr("synth.service.voice_work.read_reference_apart", read)
    service.drain_voices(WORKER)
    assert objects(tmp_path) == set()
    assert not ClonedVoice.objects.exists()
