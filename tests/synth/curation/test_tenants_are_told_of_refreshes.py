"""A refresh that has ended is told to its tenant, once; other actions, and those of operators, are not."""

from __future__ import annotations

from synth import service
from synth.models import CurationAction, WebhookEvent
from synth.service import Actor, EntryFilter, Selection
from synth.service.progress import end_action
from tests.synth.curation.conftest import Speaker

TEXT = "One sentence."


def test_its_end_is_told_with_its_counts(owner: Speaker):
    old = owner.speak(TEXT)
    action = owner.order("refreshes", entry_ids=[old["id"]])
    service.drain_actions()
    assert not WebhookEvent.objects.exists()
    owner.finish(action)
    event = WebhookEvent.objects.get()
    assert (event.type, event.subject, event.tenant) == ("cache.refreshed", action["id"], owner.member.tenant)
    assert event.data == {
        "id": action["id"],
        "status": "succeeded",
        "href": action["href"],
        "matched": 1,
        "done": 1,
        "failed": 0,
    }
    assert event.endpoint is None


def test_one_of_nothing_is_told_too(owner: Speaker):
    owner.finish(owner.order("refreshes", filter={"voice": "nobody"}))
    assert WebhookEvent.objects.get().data["matched"] == 0


def test_one_that_is_canceled_is_told_as_that(owner: Speaker):
    old = owner.speak(TEXT)
    action = owner.order("refreshes", entry_ids=[old["id"]])
    for _ in range(2):
        assert owner.client.delete(action["href"]).json()["status"] == "canceled"
    assert WebhookEvent.objects.get().data["status"] == "canceled"


def test_an_end_is_told_once_by_whoever_comes_first(owner: Speaker):
    old = owner.speak(TEXT)
    owner.order("refreshes", entry_ids=[old["id"]])
    row = CurationAction.objects.get()
    assert [end_action(row, "succeeded"), end_action(row, "canceled")] == [True, False]
    row.refresh_from_db()
    assert (row.state, WebhookEvent.objects.get().data["status"]) == ("succeeded", "succeeded")


def test_what_is_no_refresh_is_not_told(owner: Speaker):
    old = owner.speak(TEXT)
    owner.order("pins", entry_ids=[old["id"]])
    owner.finish(owner.order("warmings", lines=[{"text": "Another sentence."}]))
    owner.order("purges", entry_ids=[old["id"]])
    assert not WebhookEvent.objects.exists()


def test_an_operators_refresh_over_all_tenants_is_told_to_none(owner: Speaker):
    owner.speak(TEXT)
    everything = Selection(filter=EntryFilter(engine="counting"))
    action = service.curate("refresh", everything, tenant=None, actor=Actor(user_name="admin"), expected=None)
    for _ in range(20):
        service.drain_actions()
        owner.work()
    action.refresh_from_db()
    assert action.state == "succeeded"
    assert not WebhookEvent.objects.exists()
