"""Speech kept under a tenant's own key: nothing works without it, and nothing of it stays but its id."""

from __future__ import annotations

import logging
from base64 import b64encode
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db.models import Sum
from django.test import Client

from synth import service, wiring
from synth.keys import Kind, redis_key
from synth.models import ClonedVoice, Entry, Job, Rendering, Synthesis, WorkKey
from synth.models.clock import database_now
from synth.service import speaking
from synth.service.accounting import take_back_usage
from synth.service.work_keys import forget_lent
from tenants import sealing
from tenants.models import OwnKey, Tenant, Usage
from tests.api.caller import content, problem
from tests.engines.counting import runs
from tests.synth.sealing.conftest import kept, redis_values
from tests.synth.voices.conftest import Cloner

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]

HEADER = "Refrain-Encryption-Key"
KEY, OTHER = b64encode(bytes(range(100, 132))).decode(), b64encode(b"o" * 32).decode()
TEXT = "Keep this to yourself. Nobody else may hear it."
WORDS = {"text": TEXT, "delivery": "binary", "format": "wav", "wait": 0}


class Holder(Cloner):
    """A speaker who sends a key of its own."""

    def holding(self, key: str | None) -> Holder:
        other = type(self)(self.member, self._engine)
        if key is not None:
            other.client.defaults["HTTP_REFRAIN_ENCRYPTION_KEY"] = key
        return other

    def sound(self, text: str = TEXT, **body: Any) -> bytes:
        answer = self.ask(text, delivery="binary", **body)
        assert answer.status_code == 200, answer.content
        return answer.content


def register(speaker: Holder, key: str) -> str:
    answer = speaker.post("/v1/encryption-keys", {"key": key, "name": "ours"})
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


@pytest.fixture
def owner(world, engine) -> Holder:
    """It sends its own key, which is registered."""
    speaker = Holder(world.owner, engine)
    sealing.set_encryption(world.owner.tenant, Tenant.Encryption.OWN)
    register(speaker, KEY)
    return speaker.holding(KEY)


def path_of(url: str) -> str:
    return urlsplit(url).path


def test_it_is_heard_by_who_has_the_key(owner, stranger):
    told = owner.speak(TEXT)
    assert (owner.sound() == stranger.speak(TEXT) and stranger.ask(TEXT, delivery="binary").content) or owner.sound()
    assert owner.how(TEXT) == "hit"
    assert content(owner.client.get(f"/v1/speech/{told['id']}/audio")) == owner.sound()
    ranged = owner.client.get(f"/v1/speech/{told['id']}/audio", headers={"Range": "bytes=70000-70099"})
    assert (ranged.status_code, content(ranged)) == (206, owner.sound()[70_000:70_100])


def test_a_browser_plays_it_by_a_ticket_for_some_minutes(owner):
    told = owner.speak(TEXT)
    answer = Client().get(path_of(told["url"]), headers={"Range": "bytes=44-"})
    assert (answer.status_code, content(answer)) == (206, owner.sound()[44:])
    assert KEY.rstrip("=") not in told["url"]


REFUSED = (403, "encryption_key_refused")
WRONG = [OTHER, "", "not base64!", KEY[:-4], KEY[:-5] + "A="]


@pytest.mark.parametrize("known", [True, False], ids=["known", "new"])
def test_without_it_nothing_is_said_or_charged(owner, log, known):
    told = owner.speak(TEXT if known else "Something.")
    service.drain_usage()
    before = runs(log), Job.objects.count(), Usage.objects.count()
    for key, refused in [(None, (400, "encryption_key_required")), *((wrong, REFUSED) for wrong in WRONG)]:
        other = owner.holding(key)
        answers = [other.ask(TEXT, cache=cache) for cache in ("use", "refresh", "bypass")]
        answers += [other.ask(TEXT, delivery="binary"), other.client.get(f"/v1/speech/{told['id']}/audio")]
        assert [(answer.status_code, problem(answer)["code"]) for answer in answers] == [refused] * 5, key
    owner.work()
    service.drain_usage()
    assert (runs(log), Job.objects.count(), Usage.objects.count()) == before


def test_another_registered_key_opens_nothing_of_this_one(owner, log):
    told = owner.speak(TEXT)
    register(owner, OTHER)
    other = owner.holding(OTHER)
    answer = other.client.get(f"/v1/speech/{told['id']}/audio")
    assert (answer.status_code, problem(answer)["code"]) == (403, "encryption_key_refused")
    ran = len(runs(log))
    assert other.how(TEXT) == "miss"  # its own speech
    other.work()
    assert len(runs(log)) == ran + 2
    assert other.sound() == owner.sound()


def test_a_key_that_was_forgotten_is_refused_and_opens_again_once_it_is_registered(owner):
    owner.speak(TEXT)
    before = owner.sound()
    assert owner.client.delete(f"/v1/encryption-keys/{OwnKey.objects.get().key_id}").status_code == 204
    assert problem(owner.ask(TEXT))["code"] == "encryption_key_refused"
    register(owner, KEY)
    assert owner.sound() == before


def test_altered_bytes_are_refused_without_a_synthesis(owner, audio, log):
    told = owner.speak(TEXT)
    ran = len(runs(log))
    for path in (path for path in audio.rglob("*.*") if path.is_file()):
        data = bytearray(path.read_bytes())
        data[200] ^= 1
        path.write_bytes(bytes(data))
    wiring.redis().flushall()
    answers = [
        owner.ask(TEXT, delivery="binary"),
        owner.client.get(f"/v1/speech/{told['id']}/audio"),
        Client().get(path_of(told["url"])),
    ]
    for answer in answers:
        assert (answer.status_code, problem(answer)["code"]) == (403, "encryption_key_refused")
    owner.work()
    assert len(runs(log)) == ran


@pytest.mark.parametrize("drained", [True, False])
def test_a_hit_that_was_altered_in_redis_is_refused_and_not_charged(owner, log, monkeypatch, drained):
    owner.speak(TEXT)
    (rendition,) = Entry.objects.filter(kind="rendition")
    name = redis_key(owner.member.ref, Kind.AUDIO, rendition.key)
    held = bytearray(wiring.redis().get(name))
    held[-1] ^= 1
    wiring.redis().set(name, bytes(held))
    service.drain_usage()
    before, ran = charged(), len(runs(log))
    if drained:  # between the look-up and the refusal
        monkeypatch.setattr(speaking, "take_back_usage", lambda *said: (service.drain_usage(), take_back_usage(*said)))
    answer = owner.ask(TEXT, delivery="binary")
    assert (answer.status_code, problem(answer)["code"]) == REFUSED
    service.drain_usage()
    assert (charged(), len(runs(log))) == (before, ran)


def charged() -> dict[str, int]:
    return Usage.objects.aggregate(Sum("count"), Sum("characters"))


def test_who_needs_no_key_is_told_so(stranger):
    answer = Holder(stranger.member, stranger._engine).holding(KEY).ask(TEXT)
    assert (answer.status_code, problem(answer)["code"]) == (400, "encryption_key_unexpected")


def test_rows_hold_neither_text_nor_key(owner, audio, caplog):
    caplog.set_level(logging.DEBUG)
    owner.speak(TEXT)
    rows = [
        *Rendering.objects.values(), *Synthesis.objects.values(), *Entry.objects.values(), *Job.objects.values(),
        *OwnKey.objects.values(), *WorkKey.objects.values(),
    ]  # fmt: skip
    for text in (str(rows), caplog.text, *map(str, redis_values()), *map(str, kept(audio).values())):
        for secret in ("Keep this", "Nobody else", KEY[:-1], str(bytes(range(100, 132)))[2:-1]):
            assert secret not in text
    entry = Entry.objects.get(kind="rendition")
    told = owner.get(f"/v1/speech/ent_{entry.id.hex}")
    assert told["characters"] == len(TEXT)


def test_l1_holds_nothing_of_it(owner, stranger):
    owner.speak(TEXT)
    owner.sound()
    assert wiring.local_cache().size == 0
    stranger.speak(TEXT)
    stranger.ask(TEXT, delivery="binary")
    assert wiring.local_cache().size > 0


def test_workers_have_the_key_for_one_piece_of_work_and_some_minutes(owner, log):
    assert owner.ask(TEXT).status_code == 202
    (lent,) = WorkKey.objects.all()
    assert lent.work == Rendering.objects.get().id
    assert lent.expires_at <= database_now() + timedelta(minutes=15)
    owner.work()
    assert not WorkKey.objects.exists()
    assert owner.how(TEXT) == "hit"


def test_work_that_waited_longer_fails_and_says_so(owner, log):
    job = owner.ask(TEXT).json()
    WorkKey.objects.update(expires_at=database_now() - timedelta(seconds=1))
    owner.work()
    told = owner.get(job["href"])
    assert (told["status"], told["error"]) == ("failed", {"code": "encryption_key_expired"})
    assert not runs(log)
    forget_lent()
    assert not WorkKey.objects.exists()
    assert owner.speak(TEXT)["cache"] == "hit"


def test_a_canceled_job_leaves_no_key(owner):
    owner.client.delete(owner.ask(TEXT).json()["href"])
    assert not WorkKey.objects.exists()


def test_what_would_need_the_key_later_is_off_and_says_so(owner):
    answers = [
        owner.post("/v1/batches", {"items": [{"text": TEXT}]}),
        owner.post("/v1/cache/warmings", {"lines": [{"text": TEXT}]}),
        owner.post("/v1/cache/refreshes", {"filter": {"engine": "counting"}}),
        owner.post("/v1/cache/purges", {"filter": {"text_contains": "Keep"}}),
        owner.client.get("/v1/cache/entries", {"text_contains": "Keep"}),
    ]
    for answer in answers:
        assert (answer.status_code, problem(answer)["code"]) == (409, "off_with_own_key")


def test_a_purge_takes_the_sentences_along(owner, log):
    owner.speak(TEXT)
    owner.post("/v1/cache/purges", {"filter": {"engine": "counting"}})
    assert owner.how(TEXT) == "miss"  # its sentences were purged along
    owner.work()
    assert len(runs(log)) == 4


def test_a_voice_and_what_is_said_in_it_are_sealed(owner, audio):
    assert problem(owner.holding(None).upload())["code"] == "encryption_key_required"
    voice = owner.clone(transcript="What she said in it.")
    assert (voice["state"], voice["transcript"]) == ("ready", "What she said in it.")
    assert owner.holding(None).get(voice["href"])["transcript"] is None
    assert not WorkKey.objects.exists()
    assert "What she said" not in str(list(ClonedVoice.objects.values()))
    assert owner.speak(TEXT, voice=voice["id"])["voice"] == "anna"
    for held in kept(audio).values():
        assert b"fLaC" not in held
        assert b"RIFF" not in held


def test_jobs_are_told_of_without_the_key_but_for_their_sound(owner):
    job = owner.ask(TEXT).json()
    owner.work()
    told = owner.holding(None).get(job["href"])
    assert (told["status"], told["audio"]["url"]) == ("succeeded", None)
    assert owner.get(job["href"])["audio"]["url"]


def test_another_tenants_key_is_nothing_here(owner, world, engine):
    other = Holder(world.stranger, engine)
    sealing.set_encryption(world.stranger.tenant, Tenant.Encryption.OWN)
    assert problem(other.holding(KEY).ask(TEXT))["code"] == "encryption_key_refused"
    assert other.get("/v1/encryption-keys")["results"] == []
    known = OwnKey.objects.get().key_id
    assert other.client.delete(f"/v1/encryption-keys/{known}").status_code == 404


@pytest.mark.parametrize("key", ["", "AAAA", 5, None, OTHER + "AAAA"])
def test_what_is_no_key_cannot_be_registered(owner, key):
    answer = owner.post("/v1/encryption-keys", {"key": key})
    assert answer.status_code == 422
    assert problem(answer)["fields"][0]["field"] == "key"


def test_a_key_is_registered_once(owner):
    answer = owner.post("/v1/encryption-keys", {"key": KEY})
    assert (answer.status_code, OwnKey.objects.count()) == (200, 1)
