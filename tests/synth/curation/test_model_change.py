"""A new version of a model does not make the cache cold: the old sound is served while it is made anew, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from synth import cards, service
from synth.models import CurationAction, CurationLine, EngineCardRow, Entry, Job, Policy, Rendering
from synth.models.clock import database_now
from synth.models.states import Priority
from synth.service import model_change
from synth.service.synthesis import synthesize
from synth.snapshot import load
from tenants.models import Usage
from tests.cards import COUNTING
from tests.engines.counting import CountingEngine
from tests.renewals import renewals_done
from tests.synth.admin.pages import list_of, page_of
from tests.synth.curation.conftest import Speaker
from tests.synth.queue.desk import at_once, claim, render_all, said

TEXTS = ["Never asked for again.", "Asked for often.", "Asked for once."]
NEW = replace(COUNTING, model_version="counting-2")
NEWEST = replace(COUNTING, model_version="counting-3")


@pytest.fixture
def work_as(log, monkeypatch) -> Callable[[str], None]:
    """Do the work that waits for this version of the engine."""

    def work(version: str) -> None:
        monkeypatch.setenv("COUNTING_MODEL_VERSION", version)
        engine = CountingEngine()
        while (claimed := claim(version=version)) is not None:
            synthesize(claimed, engine)
        render_all()

    return work


@pytest.fixture
def change(work_as) -> Callable[..., CurationAction]:
    """Work the change off, as sweeper, io and engine workers do; its action."""

    def run(version: str = "counting-2") -> CurationAction:
        service.sweep()
        for _ in range(5):
            service.drain_actions()
            work_as(version)
        service.sweep()
        return CurationAction.objects.latest("created_at")

    return run


@pytest.fixture
def spoken(owner: Speaker) -> list[str]:
    """Ids of what the first version spoke: the second one was asked for often, the third once."""
    ids = [owner.speak(text)["id"] for text in TEXTS]
    for text in (TEXTS[1], TEXTS[1], TEXTS[1], TEXTS[2]):
        assert owner.how(text) == "hit"
    return ids


def told(action: CurationAction) -> list[object]:
    return [action.state, action.matched, action.done, action.cached, action.failed]


def test_the_old_sound_is_served_until_the_new_one_is_there(owner: Speaker, spoken, change):
    cards.publish(NEW)
    for text, old in zip(TEXTS, spoken, strict=True):
        answer = owner.ask(text)
        assert (answer.status_code, answer.json()["cache"], answer.json()["id"]) == (200, "stale", old)
    renewals_done()
    assert set(Rendering.objects.exclude(state="succeeded").values_list("priority", flat=True)) == {Priority.REWARM}
    action = change()
    assert (action.kind, action.tenant, told(action)[0]) == ("model_change", None, "succeeded")
    for text, old in zip(TEXTS, spoken, strict=True):
        answer = owner.ask(text).json()
        assert (answer["cache"], answer["id"] != old) == ("hit", True)
    service.drain_usage()
    assert Usage.objects.filter(outcome="miss").count() == len(TEXTS)  # of the first version


def test_what_is_asked_for_most_is_made_anew_first(owner: Speaker, spoken, change, log):
    before = len(said(log))
    cards.publish(NEW)
    action = change()
    assert told(action) == ["succeeded", 3, 3, 0, 0]
    assert said(log)[before:] == [TEXTS[1], TEXTS[2], TEXTS[0]]
    assert [owner.how(text) for text in TEXTS] == ["hit"] * 3


def test_a_bounded_number_is_at_work_and_below_all_other_work(owner: Speaker, spoken, monkeypatch):
    from synth.service import making

    monkeypatch.setattr(making, "MOST_OPEN", 2)
    cards.publish(NEW)
    service.sweep()
    service.drain_actions()
    assert list(Job.objects.exclude(state="succeeded").values_list("priority", flat=True)) == [Priority.REWARM] * 2


def test_where_the_rules_say_so_it_is_made_anew_at_once(owner: Speaker, stranger: Speaker, spoken, change, work_as):
    stranger.speak(TEXTS[0])
    service.save_policy(Policy(tenant=owner.member.tenant, model_change="make_new"))
    cards.publish(NEW)
    assert [owner.how(text) for text in TEXTS] == ["miss"] * 3
    assert stranger.how(TEXTS[0]) == "stale"
    renewals_done()
    work_as("counting-2")
    assert [owner.how(text) for text in TEXTS] == ["hit"] * 3
    assert told(change())[:2] == ["succeeded", 1]


def test_once_it_is_done_a_request_is_looked_up_under_one_key(owner: Speaker, spoken, change):
    cards.publish(NEW)
    assert [card.model_version for card in load(owner.member.tenant.id).previous["counting"]] == ["counting-1"]
    change()
    assert load(owner.member.tenant.id).previous == {}


def test_what_failed_for_now_is_served_old_until_its_time_is_over(owner: Speaker, spoken, change):
    cards.publish(NEW)
    action = change("nobody")
    CurationLine.objects.filter(number=1).update(outcome="failed", error_code="engine_error")
    CurationLine.objects.exclude(number=1).delete()
    CurationAction.objects.filter(id=action.id).update(state="succeeded")
    service.sweep()
    assert owner.how(TEXTS[1]) == "stale"
    renewals_done()
    EngineCardRow.objects.filter(model_version="counting-1").update(replaced_at=database_now() - timedelta(days=8))
    service.sweep()
    assert owner.how(TEXTS[1]) == "miss"


def test_operators_see_how_far_it_is_and_what_is_served_meanwhile(owner: Speaker, spoken, change, admin_client):
    def answered() -> tuple[str, int]:
        explained = service.explain_request(owner.member.ref, service.Question(text=TEXTS[0]))
        (wav,) = [form for form in explained.forms if form.format == "wav"]
        return wav.state, Entry.objects.filter(id=wav.entry.id, model_version="counting-1").count()

    cards.publish(NEW)
    assert answered() == ("stale", 1)
    action = change()
    assert answered() == ("fresh", 0)
    page = admin_client.get(page_of(action)).content.decode()
    assert "model change" in page
    assert "3 / 3" in admin_client.get(list_of("curationaction")).content.decode()


def test_a_canceled_change_still_serves_the_old(owner: Speaker, spoken):
    cards.publish(NEW)
    service.sweep()
    service.drain_actions()
    service.cancel_action(CurationAction.objects.get())
    service.sweep()
    assert (owner.how(TEXTS[0]), CurationAction.objects.count(), CurationLine.objects.count()) == ("stale", 1, 0)
    renewals_done()


def test_what_the_new_version_cannot_say_is_told_of(owner: Speaker, change):
    owner.speak("A voice that goes.", voice="counting_b")
    owner.speak("A speed that goes.", speed=1.5)
    owner.speak("One that stays.")
    voices = tuple(voice for voice in COUNTING.voices if voice.name != "counting_b")
    cards.publish(replace(NEW, voices=voices, speed=None))
    action = change()
    assert told(action) == ["succeeded", 3, 1, 0, 2]
    codes = CurationLine.objects.filter(action=action).values_list("error_code", flat=True)
    assert set(codes) == {"voice_gone", "unsupported_control"}
    assert load(owner.member.tenant.id).previous == {}


# --- Several versions at a time -------------------------------------------------------------------------------------


def test_workers_of_both_versions_do_not_flap(owner: Speaker, spoken, change):
    cards.publish(NEW)
    cards.publish(COUNTING)
    cards.seen("counting", "counting-1")
    assert owner.how(TEXTS[0]) == "stale"
    renewals_done()
    change()
    cards.publish(COUNTING)
    service.sweep()
    assert (owner.how(TEXTS[0]), CurationAction.objects.count()) == ("hit", 1)


def test_sweepers_and_workers_at_once_do_nothing_twice(owner: Speaker, spoken, change):
    cards.publish(NEW)
    at_once([model_change.follow_model_changes] * 3)
    at_once([service.drain_actions] * 3)
    assert (CurationAction.objects.count(), CurationLine.objects.count()) == (1, 3)
    assert told(change()) == ["succeeded", 3, 3, 0, 0]


def test_of_two_changes_at_once_the_earlier_sound_is_served_too(owner: Speaker, spoken, change):
    cards.publish(NEW)
    cards.publish(NEWEST)
    assert [owner.how(text) for text in TEXTS] == ["stale"] * 3
    renewals_done()
    change("counting-3")
    assert [owner.how(text) for text in TEXTS] == ["hit"] * 3
    assert {action.state for action in CurationAction.objects.all()} == {"succeeded"}


def test_a_version_that_is_taken_back_leaves_the_cache_warm(owner: Speaker, spoken, work_as):
    cards.publish(NEW)
    owner.ask("Spoken by the new one alone.")
    work_as("counting-2")
    long_ago = database_now() - cards.GONE_AFTER - timedelta(seconds=1)
    EngineCardRow.objects.filter(model_version="counting-2").update(seen_at=long_ago)
    cards.reelect()
    assert owner.how("Spoken by the new one alone.") == "stale"
    renewals_done()
    assert [owner.how(text) for text in TEXTS] == ["hit"] * 3


# --- Purges, pins, and a Redis that lost it -------------------------------------------------------------------------


def test_what_was_purged_is_not_served_by_the_old_version(owner: Speaker, spoken):
    cards.publish(NEW)
    owner.order("purges", entry_ids=[spoken[0]])
    assert [owner.how(text) for text in TEXTS[:2]] == ["miss", "stale"]
    renewals_done()


def test_a_purge_of_the_new_sound_takes_the_old_one_along(owner: Speaker, spoken, work_as):
    cards.publish(NEW)
    assert owner.ask(TEXTS[0], cache="refresh").status_code == 202
    work_as("counting-2")
    new = owner.ask(TEXTS[0]).json()
    assert (new["cache"], new["id"] != spoken[0]) == ("hit", True)
    action = owner.order("purges", entry_ids=[new["id"]])
    assert (action["matched"], action["done"]) == (1, 1)
    assert owner.how(TEXTS[0]) == "miss"
    assert not Entry.objects.filter(text=TEXTS[0]).exists()
    assert owner.how(TEXTS[1]) == "stale"
    renewals_done()


def test_a_pin_holds_through_the_change(owner: Speaker, spoken, change):
    owner.order("pins", entry_ids=[spoken[1]])
    cards.publish(NEW)
    change()
    pinned = Entry.objects.filter(pinned=True).order_by("created_at").values_list("text", "model_version")
    assert list(pinned) == [(TEXTS[1], "counting-1"), (TEXTS[1], "counting-2")]
    assert [owner.how(TEXTS[1]) for _ in range(2)] == ["restored", "hit"]


def test_what_redis_lost_is_served_old_from_the_catalogue(owner: Speaker, spoken, redis_server):
    cards.publish(NEW)
    redis_server.flush()
    assert [owner.how(TEXTS[0]) for _ in range(2)] == ["stale", "stale"]
    renewals_done()
    assert Usage.objects.filter(outcome="stale").count() == 1
    service.drain_usage()
    assert Usage.objects.filter(outcome="stale").count() == 2


def test_what_may_no_longer_be_served_is_not_made_anew(owner: Speaker, spoken, change):
    Entry.objects.filter(text=TEXTS[0]).update(made_at=database_now() - timedelta(days=2))
    cards.publish(NEW)
    assert told(change()) == ["succeeded", 2, 2, 0, 0]


def test_the_rest_of_a_long_list_is_made_anew_when_asked_for(owner: Speaker, spoken, change, monkeypatch, work_as):
    monkeypatch.setattr(model_change, "MOST_LINES", 2)
    cards.publish(NEW)
    action = change()
    assert (told(action)[:3], action.selection["left_out"]) == (["succeeded", 2, 2], 1)
    assert owner.how(TEXTS[0]) == "stale"
    renewals_done()
    work_as("counting-2")
    assert owner.how(TEXTS[0]) == "hit"
