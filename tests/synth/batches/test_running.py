"""Batches are spoken item by item, share what is there, and end once with every item told of."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from synth import service
from synth.models import CurationAction, CurationLine, Job, Policy, Rendering, Synthesis, WebhookEvent
from synth.models.clock import database_now
from synth.models.states import Priority
from synth.service import making
from synth.service.expiring import forget_actions, forget_batches
from tenants.models import Usage
from tests.engines.counting import FAIL_PERMANENTLY
from tests.servers.receiver import wait_until
from tests.synth.batches.conftest import Sender, item
from tests.synth.queue.desk import at_once, said, somebody_waits

ITEMS = [item(f"Item {number}.", custom_id=f"c{number}") for number in range(5)]


def statuses(sender: Sender, batch: dict[str, Any]) -> list[str]:
    return [told["status"] for told in sender.items(batch)]


def test_every_item_ends_in_its_own_way(owner: Sender, log):
    owner.speak("Item 0.")
    batch = owner.send(*ITEMS, item("Hm.", voice="nobody"), item(f"{FAIL_PERMANENTLY}."))
    ended = owner.finish(batch)
    assert ended["status"] == "succeeded"
    assert owner.counts(ended) == {"total": 7, "succeeded": 4, "cached": 1, "refused": 1, "failed": 1}
    assert statuses(owner, ended) == ["cached", *["succeeded"] * 4, "refused", "failed"]
    assert owner.items(ended, status="failed")[0]["error"] == {"code": "told_to_fail", "detail": ""}
    assert sorted(said(log)) == [*[f"Item {number}." for number in range(5)], f"{FAIL_PERMANENTLY}."]
    assert {owner.how(told["text"]) for told in ITEMS} == {"hit"}
    for told in owner.items(ended, status="succeeded") + owner.items(ended, status="cached"):
        speech = owner.get(f"/v1/speech/{told['speech_id']}")
        assert speech["audio"]["sha256"] == told["audio"]["sha256"]
        assert owner.client.get(told["audio"]["url"]).status_code == 200


def test_it_runs_below_what_somebody_waits_for_and_above_warming(owner: Sender):
    owner.order("warmings", lines=[{"text": "Warm.", "format": "wav"}])
    owner.send(item("Batched."))
    owner.begin()
    owner.ask("Waited for.")
    order = Synthesis.objects.order_by("priority").values_list("segment__text", "priority")
    assert list(order) == [("Waited for.", 0), ("Batched.", Priority.BATCH), ("Warm.", Priority.REWARM)]


def test_items_and_requests_share_one_synthesis(owner: Sender, log):
    batch = owner.send(item("Shared. One."), item("Shared. Two."), item("Shared. One."))
    owner.begin()
    assert owner.ask("Shared. Two.").status_code == 202
    assert owner.counts(owner.finish(batch)) == {"total": 3, "succeeded": 3}
    assert sorted(said(log)) == ["One.", "Shared.", "Two."]


def test_a_bounded_number_is_open_at_a_time(owner: Sender, monkeypatch):
    monkeypatch.setattr(making, "MOST_OPEN_OF_BATCH", 3)
    batch = owner.send(*ITEMS)
    owner.begin()
    owner.begin()
    assert (Job.objects.count(), owner.counts(batch)) == (3, {"total": 5, "running": 3, "waiting": 2})
    assert owner.get(batch["href"])["status"] == "running"
    assert owner.finish(batch)["counts"]["succeeded"] == 5


def test_a_job_tells_where_it_comes_from_and_what_it_was_given(owner: Sender):
    batch = owner.send(item("Hello.", metadata={"page": 3, "line": "mine"}, category="prices"))
    owner.begin()
    job = Job.objects.get()
    assert job.metadata == {"page": 3, "batch": batch["id"], "line": 1}
    assert (job.category, job.request_id, job.api_key_id) == ("prices", batch["request_id"], owner.member.key.id)


def test_modes_of_the_cache(owner: Sender, log):
    owner.speak("Known.")
    ended = owner.finish(owner.send(item("Known.", cache="refresh"), item("Known.", cache="bypass"), item("Known.")))
    assert statuses(owner, ended) == ["succeeded", "succeeded", "cached"]
    assert said(log) == ["Known."] * 3


def test_what_a_rule_keeps_out_of_the_cache_is_spoken(owner: Sender):
    service.save_policy(Policy(never_cache=True))
    ended = owner.finish(owner.send(item("Secret."), item("Secret.")))
    assert statuses(owner, ended) == ["succeeded", "succeeded"]
    assert all(told["audio"]["url"] for told in owner.items(ended))
    assert owner.how("Secret.") == "miss"


def test_each_item_is_charged_once(owner: Sender):
    owner.speak("Item 0.")
    service.drain_usage()
    Usage.objects.all().delete()
    owner.finish(owner.send(*ITEMS[:3]))
    for _ in range(2):
        service.drain_usage()
    assert sorted(Usage.objects.values_list("outcome", flat=True)) == ["hit", "miss", "miss"]


# --- The end -----------------------------------------------------------------------------------------------------


def test_its_end_is_noted_once_with_what_came_of_it(owner: Sender):
    batch = owner.send(*ITEMS[:2], item(""), metadata={"book": 7})
    owner.begin()
    assert not WebhookEvent.objects.exists()
    ended = owner.finish(batch)
    owner.begin()
    event = WebhookEvent.objects.get()
    assert (event.type, event.subject, event.tenant_id) == ("batch.completed", batch["id"], owner.member.tenant.id)
    assert event.data == {"id": batch["id"], "status": "succeeded", "counts": ended["counts"], "metadata": {"book": 7}}


def test_a_canceled_one_keeps_what_is_done(owner: Sender, log, monkeypatch):
    monkeypatch.setattr(making, "MOST_OPEN_OF_BATCH", 2)
    batch = owner.send(*ITEMS, item(""))
    owner.begin()
    owner.work()
    owner.begin()
    spoken = len(said(log))
    told = owner.client.post(f"{batch['href']}/cancel").json()
    assert told["status"] == "canceled"
    assert owner.counts(batch) == {"total": 6, "succeeded": 2, "refused": 1, "canceled": 3}
    owner.begin()
    owner.work()
    assert len(said(log)) == spoken
    assert statuses(owner, batch) == ["succeeded", "succeeded", "canceled", "canceled", "canceled", "refused"]
    assert sorted(Job.objects.values_list("state", flat=True)) == ["canceled"] * 2 + ["succeeded"] * 2
    assert owner.client.delete(batch["href"]).json() == told
    assert WebhookEvent.objects.get().data["counts"] == told["counts"]


def test_what_was_done_but_not_counted_when_it_is_canceled_counts(owner: Sender):
    batch = owner.send(*ITEMS)
    owner.begin()
    owner.work()
    owner.client.delete(batch["href"])
    assert owner.counts(batch) == {"total": 5, "succeeded": 5}


def test_a_job_that_begins_as_its_batch_is_canceled_is_canceled(owner: Sender, monkeypatch):
    batch = owner.send(*ITEMS[:1])
    submit = making.submit

    def slow(*args: Any, **kwargs: Any) -> Any:
        assert owner.client.delete(batch["href"]).json()["status"] == "canceled"
        return submit(*args, **kwargs)

    monkeypatch.setattr(making, "submit", slow)
    owner.begin()
    assert Job.objects.get().state == "canceled"
    assert owner.counts(batch) == {"total": 1, "canceled": 1}


def test_renderings_are_locked_in_the_order_of_everybody_else(owner: Sender):
    """Else two of them, or one and a sentence that both renditions need, wait for each other in a circle."""
    if connection.vendor == "sqlite":
        pytest.skip("one writer at a time")
    batch = owner.send(*ITEMS[:2])
    owner.begin()
    lower, higher = Rendering.objects.order_by("id").values_list("id", flat=True)
    jobs = {job.rendering_id: job.id for job in Job.objects.all()}
    CurationLine.objects.update(outcome="waiting")
    for number, rendering_id in enumerate([higher, lower], start=1):
        CurationLine.objects.filter(number=number).update(outcome="open", job_id=jobs[rendering_id])
    canceled: list[Any] = []

    def cancel() -> None:
        canceled.append(owner.client.delete(batch["href"]).json()["status"])
        connection.close()

    rows = Rendering.objects.select_for_update(nowait=True)
    with transaction.atomic():
        rows.get(id=lower)
        thread = threading.Thread(target=cancel)
        thread.start()
        assert wait_until(somebody_waits)
        assert rows.get(id=higher)
    thread.join(20)
    assert canceled == ["canceled"]


def test_one_item_is_canceled_by_its_job(owner: Sender):
    batch = owner.send(*ITEMS[:2])
    owner.begin()
    first = owner.items(batch)[0]
    owner.client.delete(f"/v1/speech/{first['speech_id']}")
    owner.begin()
    assert owner.counts(batch) == {"total": 2, "running": 1, "canceled": 1}
    ended = owner.finish(batch)
    assert (ended["status"], owner.counts(ended)) == ("succeeded", {"total": 2, "succeeded": 1, "canceled": 1})


def test_canceling_and_working_at_once_counts_every_item_once(owner: Sender):
    batch = owner.send(*[item(f"Number {number}.") for number in range(30)])
    owner.begin()
    results = at_once(
        [service.drain_actions, lambda: owner.client.delete(batch["href"]), owner.work, service.drain_actions]
    )
    assert not [result for result in results if isinstance(result, Exception)]
    counts = owner.finish(batch)["counts"]
    found = [line.outcome for line in CurationLine.objects.all()]
    assert (found.count("done"), found.count("canceled")) == (counts["succeeded"], counts["canceled"])
    assert len(found) == counts["total"] == counts["succeeded"] + counts["canceled"]
    assert not Job.objects.filter(state__in=["queued", "running", "waiting"]).exists()


# --- Processes that die ------------------------------------------------------------------------------------------


def test_workers_at_once_do_no_item_twice(owner: Sender, log):
    batch = owner.send(*ITEMS)
    at_once([service.drain_actions] * 3)
    assert owner.finish(batch)["counts"]["succeeded"] == 5
    assert (Job.objects.count(), len(said(log)), WebhookEvent.objects.count()) == (5, 5, 1)


@pytest.mark.parametrize("moment", ["before the job", "after the job"])
def test_a_worker_that_died_loses_no_item_and_doubles_none(owner: Sender, log, monkeypatch, moment: str):
    """As `kill -9` leaves it: the line is begun, its job is there or not, the lease has run out."""
    batch = owner.send(*ITEMS[:1])
    submit = making.submit

    def die(*args: Any, **kwargs: Any) -> None:
        if moment == "after the job":
            submit(*args, **kwargs)
        raise SystemExit

    monkeypatch.setattr(making, "submit", die)
    with pytest.raises(SystemExit):
        service.drain_actions()
    monkeypatch.setattr(making, "submit", submit)
    CurationAction.objects.update(lease_until=None)
    assert CurationLine.objects.get().outcome == "open"
    assert owner.counts(owner.finish(batch)) == {"total": 1, "succeeded": 1}
    assert (Job.objects.count(), len(said(log))) == (1, 1)


def test_one_whose_process_died_while_it_was_stored_was_never_accepted(owner: Sender):
    batch = owner.send(*ITEMS)
    CurationAction.objects.update(state="waiting")
    owner.begin()
    service.sweep()
    assert (Job.objects.count(), CurationLine.objects.count()) == (0, 5)
    assert owner.client.get(batch["href"]).status_code == 404
    CurationAction.objects.update(created_at=timezone.now() - timedelta(hours=1))
    service.sweep()
    assert (CurationAction.objects.count(), CurationLine.objects.count()) == (0, 0)


def test_without_an_engine_it_is_refused_and_what_is_taken_waits(owner: Sender):
    from synth.models import EngineCardRow

    batch = owner.send(*ITEMS[:1])
    rows = list(EngineCardRow.objects.all())
    EngineCardRow.objects.all().delete()
    owner.begin()
    assert owner.counts(batch) == {"total": 1, "waiting": 1}
    refused = owner.upload(b'{"items": [{"text": "Hello."}]}')
    assert (refused.status_code, refused.json()["code"]) == (503, "no_engine")
    assert CurationAction.objects.count() == 1
    EngineCardRow.objects.bulk_create(rows)
    assert owner.finish(batch)["counts"]["succeeded"] == 1


def test_it_is_kept_for_thirty_days(owner: Sender, monkeypatch):
    from synth.service import expiring

    batch = owner.finish(owner.send(*ITEMS))
    CurationAction.objects.update(ended_at=database_now() - timedelta(days=29))
    assert (forget_actions(), forget_batches(), len(owner.items(batch))) == (0, 0, 5)
    CurationAction.objects.update(ended_at=database_now() - timedelta(days=31))
    monkeypatch.setattr(expiring, "LINES", 3)
    assert [forget_batches(), CurationAction.objects.count()] == [3, 1]
    assert [forget_batches(), CurationAction.objects.count(), CurationLine.objects.count()] == [3, 0, 0]
    assert Job.objects.count() == 5
