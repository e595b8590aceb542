"""A tenant's own voice speaks as its recording tells, for that tenant alone, from the request after it was ready."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import soundfile

from synth import cards, codec, wiring
from synth.audio.pcm import from_flac
from synth.models import ClonedVoice, EngineCardRow, Entry, Synthesis
from synth.service import references
from synth.service.references import load_references
from synth.snapshot import load
from synth.stored import STORED_FORMAT, audio_object
from synth.types import Segment
from tests.cards import COUNTING
from tests.engines.counting import _voice, pitch
from tests.recordings import recording
from tests.synth.voices.conftest import Cloner

TEXT = "Hello there."


def heard(owner: Cloner) -> float:
    """Hz of the sentence that was spoken last."""
    entry = Entry.objects.filter(kind="segment").latest("id")
    pcm = from_flac(wiring.object_store().get(audio_object(owner.member.ref, entry.digest, STORED_FORMAT)))
    spectrum = np.abs(np.fft.rfft(pcm.samples * np.hanning(len(pcm.samples)), n=1 << 18))
    return float(np.argmax(spectrum)) * pcm.sample_rate / (1 << 18)


def expected(owner: Cloner) -> float:
    segment = codec.from_json(Segment, Synthesis.objects.latest("id").segment)
    held = load_references(owner.member.ref, segment.manner)
    return pitch(segment, _voice(segment, held))


def test_it_sounds_like_its_recording(owner: Cloner):
    first, second = owner.clone(), owner.clone(recording(2), name="ben")
    heights = []
    for voice in (first, second):
        told = owner.speak(TEXT, voice=voice["id"])
        assert (told["voice"], told["engine"]) == (voice["name"], "counting")
        heights.append(heard(owner))
        assert heights[-1] == pytest.approx(expected(owner), abs=3)
    assert abs(heights[0] - heights[1]) > 5
    assert {entry.references for entry in Entry.objects.all()} == {first["fingerprint"], second["fingerprint"]}


def test_it_is_found_by_id_by_name_and_by_both_names(owner: Cloner, log):
    voice = owner.clone()
    told = owner.speak(TEXT, voice="anna")
    for name in (voice["id"], "counting/anna"):
        assert owner.speak(TEXT, voice=name)["id"] == told["id"]
    assert owner.how(TEXT, voice="anna") == "hit"
    assert owner.how(TEXT, voice="counting_a") == "miss"


def test_it_is_nobody_elses(owner: Cloner, stranger: Cloner):
    voice = owner.clone()
    owner.speak(TEXT, voice="anna")
    for name in (voice["id"], "anna", "counting/anna"):
        answer = stranger.ask(TEXT, voice=name)
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_voice")
    assert stranger.voices() == []
    assert stranger.client.get(f"/v1/voices/{voice['id']}").status_code == 404
    assert stranger.delete(voice) == 404
    emotion = {"reference": voice["fingerprint"]}
    assert stranger.ask(TEXT, voice="actor/actor_a", emotion=emotion).status_code == 422
    assert owner.how(TEXT, voice="anna") == "hit"


def test_one_that_is_not_ready_is_unknown(owner: Cloner):
    told = owner.upload().json()
    assert owner.ask(TEXT, voice=told["id"]).json()["code"] == "unknown_voice"


def test_its_own_language_comes_first(owner: Cloner):
    owner.clone(language="ja")
    snapshot = load(owner.member.tenant.id)
    assert snapshot is not None
    assert snapshot.voices["anna"].languages == ("ja", "zh", "en", "ko")


def test_an_engine_that_is_gone_takes_its_voices_along(owner: Cloner):
    owner.clone()
    EngineCardRow.objects.filter(name="counting").delete()
    snapshot = load(owner.member.tenant.id)
    assert snapshot is not None
    assert "anna" not in snapshot.voices
    assert owner.voices()[0]["state"] == "ready"


def test_a_reference_is_read_once_and_asked_for_each_time(owner: Cloner, monkeypatch: Any):
    owner.clone()
    reads: list[str] = []
    read = references._read
    monkeypatch.setattr(references, "_read", lambda tenant, row: reads.append(row.name) or read(tenant, row))
    references._held.clear()
    owner.speak(TEXT, voice="anna")
    owner.speak("Another sentence.", voice="anna")
    assert reads == ["anna"]


def test_a_sentence_whose_voice_was_deleted_fails_for_good(owner: Cloner):
    owner.clone()
    job = owner.ask(TEXT, voice="anna").json()
    ClonedVoice.objects.all().delete()
    owner.work()
    told = owner.get(job["href"])
    assert (told["status"], told["error"]) == ("failed", {"code": "voice_gone"})


def test_a_request_that_still_knows_a_deleted_voice_is_refused(owner: Cloner):
    owner.clone()
    owner.speak("Something else.", voice="anna")
    ClonedVoice.objects.all().delete()  # without a word to anybody: the snapshot is as it was
    answer = owner.ask(TEXT, voice="anna")
    assert (answer.status_code, answer.json()["code"]) == (422, "voice_gone")


def test_a_new_version_of_the_model_speaks_like_it_too(owner: Cloner):
    from dataclasses import replace

    owner.clone()
    owner.speak(TEXT, voice="anna")
    cards.publish(replace(COUNTING, model_version="counting-2"))
    answer = owner.ask(TEXT, voice="anna")
    assert (answer.status_code, answer.json()["cache"]) == (200, "stale")


def test_what_is_stored_is_mono_flac_of_the_same_samples(owner: Cloner):
    voice = owner.clone()
    row = ClonedVoice.objects.get()
    from synth.stored import voice_object

    data = wiring.object_store().get(voice_object(owner.member.ref, row.id, row.digest))
    values, rate = soundfile.read(io.BytesIO(data), dtype="int16", always_2d=True)
    given, _ = soundfile.read(io.BytesIO(recording()), dtype="int16", always_2d=True)
    assert data[:4] == b"fLaC"
    assert (rate, values.shape[1]) == (voice["sample_rate"], 1)
    assert np.array_equal(values, given)
