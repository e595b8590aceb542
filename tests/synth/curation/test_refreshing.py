"""A refresh makes the sound anew; until that passed the check, and when it fails, the old one is served."""

from __future__ import annotations

import pytest

from synth import wiring
from synth.models import Entry, Rendering, Synthesis
from synth.models.states import Priority
from synth.types import Pcm
from tests.engines import counting
from tests.engines.counting import CountingEngine
from tests.synth.curation.conftest import Speaker
from tests.synth.queue.desk import said, speak_all

TEXT = "One sentence."


def test_the_old_sound_is_served_until_the_new_one_is_there(owner: Speaker, log, retuned_later):
    old = owner.speak(TEXT)
    action = owner.order("refreshes", entry_ids=[old["id"]])
    assert action["status"] == "queued"
    assert owner.ask(TEXT).json()["sha256"] == old["sha256"]
    retuned_later()
    ended = owner.finish(action)
    assert (ended["status"], ended["done"], ended["failed"]) == ("succeeded", 1, 0)
    new = owner.ask(TEXT).json()
    assert new["sha256"] != old["sha256"]
    assert (new["id"], new["cache"]) == (old["id"], "hit")
    assert said(log) == [TEXT, TEXT]


@pytest.fixture
def retuned_later(monkeypatch: pytest.MonkeyPatch):
    """Call it, and the engine sounds otherwise from then on, as one does whose seed is its own choice."""
    return lambda: monkeypatch.setattr(counting, "pitch", lambda *_: 777.0)


@pytest.mark.parametrize("trouble", ["silence", "error"])
def test_what_fails_leaves_the_old_sound(owner: Speaker, monkeypatch: pytest.MonkeyPatch, trouble: str):
    old = owner.speak(TEXT)

    def fail(_self: CountingEngine, segment):
        if trouble == "error":
            raise RuntimeError("no voice today")
        return Pcm(counting.tone(segment) * 0, counting.SAMPLE_RATE)

    monkeypatch.setattr(CountingEngine, "synthesize", fail)
    action = owner.order("refreshes", entry_ids=[old["id"]])
    ended = finish_with_retries(owner, action)
    assert (ended["status"], ended["done"], ended["failed"]) == ("succeeded", 0, 1)
    (failure,) = owner.get(f"{action['href']}/failures")["results"]
    assert failure["entry_id"] == old["id"]
    assert failure["code"] == {"silence": "implausible_audio", "error": "engine_error"}[trouble]
    again = owner.ask(TEXT).json()
    assert (again["sha256"], again["cache"]) == (old["sha256"], "hit")


def finish_with_retries(owner: Speaker, action):
    """Pauses between attempts are skipped."""
    from synth import service

    for _ in range(10):
        service.drain_actions()
        owner.work()
        Synthesis.objects.filter(not_before__isnull=False).update(not_before=None)
        owner.work()
    return owner.get(action["href"])


def test_a_new_sound_that_redis_missed_is_served_all_the_same(owner: Speaker, redis_server, retuned_later):
    """The old copy in Redis is as fresh as any by its age."""
    old = owner.speak(TEXT)
    action = owner.order("refreshes", entry_ids=[old["id"]])
    from synth import service

    service.drain_actions()
    retuned_later()
    redis_server.stop()
    owner.work()
    redis_server.start()
    wiring.rendition_cache()._breaker._open_until = 0.0
    assert owner.finish(action)["done"] == 1
    assert owner.ask(TEXT).json()["sha256"] != old["sha256"]


def test_equal_refreshes_share_one_run(owner: Speaker, log):
    old = owner.speak(TEXT)
    actions = [owner.order("refreshes", entry_ids=[old["id"]]) for _ in range(3)]
    assert [owner.finish(action)["done"] for action in actions] == [1, 1, 1]
    assert 2 <= len(said(log)) <= 4
    assert owner.how(TEXT) != "miss"


def test_large_ones_run_below_all_other_work(owner: Speaker):
    for number in range(12):
        owner.speak(f"Sentence number {number}.")
    from synth import service

    owner.order("refreshes", filter={"text_contains": "sentence"})
    service.drain_actions()
    assert set(Rendering.objects.exclude(state="succeeded").values_list("priority", flat=True)) == {Priority.REWARM}
    owner.ask("Somebody waits for this.")
    first = Synthesis.objects.filter(state="queued").order_by("priority", "created_at")[0]
    assert first.segment["text"] == "Somebody waits for this."
    owner.work()


def test_a_filter_that_matches_sentences_refreshes_the_renditions(owner: Speaker, log):
    owner.speak("One sentence. Another sentence.")
    action = owner.order("refreshes", filter={"text_contains": "sentence"})
    assert action["matched"] == 1
    assert owner.finish(action)["done"] == 1
    assert len(said(log)) == 4


def test_a_sentence_by_itself_is_refused(owner: Speaker):
    owner.speak(TEXT)
    (segment,) = owner.get("/v1/cache/entries", kind="segment")["results"]
    answer = owner.post("/v1/cache/refreshes", {"entry_ids": [segment["id"]]})
    assert (answer.status_code, answer.json()["code"]) == (422, "not_a_rendition")


def test_what_is_purged_meanwhile_is_told_as_failed(owner: Speaker):
    old = owner.speak(TEXT)
    action = owner.order("refreshes", entry_ids=[old["id"]])
    Entry.objects.filter(kind="rendition").update(spec=None)
    assert owner.finish(action)["failed"] == 1
    assert owner.get(f"{action['href']}/failures")["results"][0]["code"] == "purged"
    speak_all(CountingEngine())
