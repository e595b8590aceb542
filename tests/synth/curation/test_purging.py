"""A purged sound is gone at the next request, with its sentences; its URL works on; nothing brings it back."""

from __future__ import annotations

import httpx
import pytest

from synth import service, wiring
from synth.models import Entry, PurgeNumber, Rendering
from synth.service import purging
from synth.service.purging import follow_purges, next_number
from synth.stored import of_entry
from tests.servers.live_api import LiveApi
from tests.synth.curation.conftest import Speaker
from tests.synth.queue.desk import render_all, said, speak_all

TEXT = "One sentence. Another sentence."


def rendition() -> Entry:
    return Entry.objects.get(kind=Entry.Kind.RENDITION)


def test_it_is_gone_at_the_next_request_with_its_sentences(owner: Speaker, log):
    told = owner.speak(TEXT)
    assert owner.how(TEXT) != "miss"
    action = owner.order("purges", entry_ids=[told["id"]])
    assert (action["status"], action["matched"], action["done"]) == ("succeeded", 1, 1)
    assert owner.how(TEXT) == "miss"
    assert not Entry.objects.exists()
    owner.work()
    assert said(log) == ["One sentence.", "Another sentence."] * 2
    assert owner.how(TEXT) != "miss"
    assert owner.ask(TEXT).json()["id"] == told["id"]


def test_what_stays_of_it_says_nothing_of_what_it_said(owner: Speaker):
    told = owner.speak(TEXT)
    owner.order("purges", entry_ids=[told["id"]])
    kept = Entry.with_purged.all()
    assert {entry.kind for entry in kept} == {"rendition", "segment"}
    assert {(entry.text, entry.spec) for entry in kept} == {("", None)}
    assert all(entry.purged_at and entry.key for entry in kept)
    assert owner.client.get(f"/v1/speech/{told['id']}").status_code == 404
    assert owner.get("/v1/cache/entries")["results"] == []


def test_a_url_that_was_given_out_works_on(owner: Speaker, tmp_path):
    told = owner.speak(TEXT)
    owner.order("purges", entry_ids=[told["id"]])
    service.sweep_objects()
    with LiveApi() as api:
        answer = httpx.get(told["url"].replace("http://testserver", api.url), trust_env=False)
    assert (answer.status_code, len(answer.content)) == (200, told["size"])


def test_by_filter_only_what_matches_goes(owner: Speaker, stranger: Speaker):
    for speaker in (owner, stranger):
        speaker.speak("Keep this.")
        speaker.speak("The price is ten.", category="prices")
    action = owner.order("purges", filter={"text_contains": "PRICE", "kind": "rendition"})
    assert action["done"] == 1
    assert [owner.how("Keep this."), owner.how("The price is ten.")] == ["hit", "miss"]
    assert [stranger.how("Keep this."), stranger.how("The price is ten.")] == ["hit", "hit"]
    assert action["selection"] == {"filter": {"kind": "rendition", "text_contains": "PRICE"}}


@pytest.mark.parametrize("when", ["stop", "freeze"])
def test_with_redis_away_it_is_gone_too_and_stays_gone(owner: Speaker, redis_server, when: str):
    told = owner.speak(TEXT)
    assert owner.how(TEXT) != "miss"
    getattr(redis_server, when)()
    assert owner.order("purges", entry_ids=[told["id"]])["status"] == "succeeded"
    assert owner.how(TEXT) == "miss"
    redis_server.thaw() if when == "freeze" else redis_server.start()
    wiring.rendition_cache()._breaker._open_until = 0.0
    assert owner.how(TEXT) == "miss"


def test_another_process_that_never_lost_redis_is_told_by_the_sweeper(owner: Speaker):
    """The purging process could not reach Redis; this one can, and has it confirmed."""
    told = owner.speak(TEXT)
    assert owner.how(TEXT) != "miss"
    reach = wiring.rendition_cache()._connect
    wiring.rendition_cache()._connect = unreachable
    owner.order("purges", entry_ids=[told["id"]])
    wiring.rendition_cache()._connect = reach
    service.sweep()
    wiring.rendition_cache()._breaker._open_until = 0.0
    assert owner.how(TEXT) == "miss"


def unreachable():
    raise OSError("no way")


def test_a_restore_that_read_the_row_before_the_purge_does_not_win(owner: Speaker):
    owner.speak(TEXT)
    entry, tenant = rendition(), owner.member.ref
    before = PurgeNumber.objects.filter(tenant_id=tenant.id).values_list("number", flat=True).first() or 0
    owner.order("purges", entry_ids=[of_entry(entry).id])
    wiring.rendition_cache().fill(tenant, entry.key, of_entry(entry), None, purge_number=before)
    assert owner.how(TEXT) == "miss"


def test_work_that_was_running_keeps_its_job_and_brings_nothing_purged_back(owner: Speaker, engine):
    """Its sentences were stored before the purge: only those that asked before it may hear them."""
    owner.speak("One sentence.")
    owner.ask("One sentence. Another sentence.")  # the first is stored, the second is being made
    owner.order("purges", filter={"text_contains": "one"})
    speak_all(engine)
    assert render_all() == 1
    assert Rendering.objects.filter(state="succeeded").count() == 2
    assert owner.how("One sentence. Another sentence.") == "miss"


def test_work_that_was_running_and_made_all_itself_is_newer_than_the_purge(owner: Speaker):
    owner.ask(TEXT)
    owner.order("purges", filter={"text_contains": "sentence"})
    owner.work()
    assert owner.how(TEXT) != "miss"


def test_a_redis_that_knows_more_than_a_restored_database_hears_of_later_purges(owner: Speaker):
    told = owner.speak(TEXT)
    owner.order("purges", entry_ids=[told["id"]])
    owner.speak(TEXT)
    PurgeNumber.objects.update(number=0)
    Entry.with_purged.update(purge_number=None)
    assert follow_purges(owner.member.ref)
    assert wiring.rendition_cache().purge_number(owner.member.ref) == 0
    owner.order("purges", entry_ids=[told["id"]])
    assert owner.how(TEXT) == "miss"


def test_numbers_rise_and_none_is_given_again(world):
    tenant = world.owner.ref
    first, second = next_number(tenant), next_number(tenant)
    PurgeNumber.objects.update(number=0)  # from a backup
    assert 0 < first < second < next_number(tenant)


def test_more_than_a_few_need_the_count_first(owner: Speaker):
    entry = Entry(kind="segment", tenant=owner.member.tenant, key="k0", engine="e", model_version="m", voice="v")
    told = {"text": "many", "digest": "d" * 64, "format": "flac", "media_type": "audio/flac", "size": 1}
    rows = [
        Entry(**{**vars_of(entry), **told, "key": f"k{number}", "duration": 1.0, "sample_rate": 24000})
        for number in range(450)
    ]
    Entry.objects.bulk_create(rows)
    body = {"filter": {"text_contains": "many"}}
    assert owner.order("purges", **body, dry_run=True) == {"object": "count", "kind": "purge", "matched": 450}
    refused = owner.post("/v1/cache/purges", body)
    assert (refused.status_code, refused.json()["code"], refused.json()["matched"]) == (
        409,
        "confirmation_required",
        450,
    )
    assert owner.post("/v1/cache/purges", {**body, "expected_count": 449}).status_code == 409
    action = owner.order("purges", **body, expected_count=450)
    assert action["status"] == "queued"
    ended = owner.finish(action)
    assert (ended["status"], ended["done"], Entry.objects.count()) == ("succeeded", 450, 0)


def vars_of(entry: Entry) -> dict[str, object]:
    from django.utils import timezone

    names = ("kind", "tenant", "engine", "model_version", "voice")
    return {name: getattr(entry, name) for name in names} | {"made_at": timezone.now()}


def test_a_redis_that_is_far_behind_is_not_believed_until_it_caught_up(owner: Speaker, redis_server, monkeypatch):
    texts = [f"Sentence {number}." for number in range(4)]
    ids = [owner.speak(text)["id"] for text in texts]
    redis_server.stop()
    for entry_id in ids:
        owner.order("purges", entry_ids=[entry_id])
    redis_server.start()
    monkeypatch.setattr(purging, "KEYS_AT_ONCE", 1)
    monkeypatch.setattr(purging, "MOST_ROUNDS", 2)
    wiring.rendition_cache()._breaker._open_until = 0.0
    behind = [purging.follow_purges(owner.member.ref) for _ in range(3)]
    assert behind[0] is False
    assert behind[-1] is True
    assert {owner.how(text) for text in texts} == {"miss"}
