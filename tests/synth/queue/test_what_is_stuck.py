"""Every check of the sweeper and of doctor: finds what it is for, repairs it, and finds nothing in good order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from synth import cards
from synth.models import (
    ClonedVoice,
    CurationAction,
    CurationBlock,
    CurationLine,
    DiscardedObject,
    EngineCardRow,
    IdempotentRequest,
    Job,
    Rendering,
    Synthesis,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from synth.models.clock import database_now
from synth.models.states import OPEN, State
from synth.queue.claim import claim_rendering
from synth.service.overdue import OVERDUE
from synth.service.stuck import EVERY_MINUTE, EVERY_ROUND
from tests.engines.counting import CountingEngine
from tests.synth.queue.desk import WORKER, claim, order, speak_all, states, work
from tests.world import Member

CHECKS = {check.name: check for check in (*EVERY_ROUND, *EVERY_MINUTE, *OVERDUE)}
HOURS_AGO = timedelta(hours=5)

Break = Callable[[Member, CountingEngine], object]
BREAKS: dict[str, Break] = {}


@pytest.fixture
def world(committed_world):
    """Bells ring on commit, so these tests commit."""
    return committed_world


def breaks(name: str) -> Callable[[Break], Break]:
    def keep(function: Break) -> Break:
        BREAKS[name] = function
        return function

    return keep


def age(rows: Any, **columns: Any) -> None:
    rows.objects.update(created_at=database_now() - HOURS_AGO, **columns)


@breaks("complete renderings")
def lose_the_hand_on(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    speak_all(engine)
    age(Rendering, state=State.WAITING)


@breaks("stranded renderings")
def lose_a_sentence(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    Synthesis.objects.update(state=State.FAILED)
    age(Rendering)


@breaks("sentences of a version that is gone")
def roll_on(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.", version="counting-0")
    EngineCardRow.objects.create(name="counting", model_version="counting-0", seen_at=database_now() - HOURS_AGO)
    age(Synthesis)


@breaks("jobs left open")
def end_the_rendering_alone(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    Rendering.objects.update(state=State.FAILED, error_code="told_to_fail", error_detail="By hand.")
    Synthesis.objects.update(state=State.FAILED)


@breaks("forsaken renderings")
def end_the_job_alone(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    Job.objects.update(state=State.CANCELED, ended_at=database_now())
    age(Rendering)


@breaks("lists not loaded")
def die_while_a_list_loads(owner: Member, engine: CountingEngine) -> None:
    action = CurationAction.objects.create(kind="warm", tenant=owner.tenant, state=State.WAITING)
    CurationBlock.objects.create(action=action, first=1, lines=[{}])
    age(CurationAction)


def voice(owner: Member, **columns: Any) -> ClonedVoice:
    return ClonedVoice.objects.create(tenant=owner.tenant, name="a", engine="counting", upload_size=1, **columns)


@breaks("voices not stored")
def die_while_an_upload_is_stored(owner: Member, engine: CountingEngine) -> None:
    voice(owner)
    age(ClonedVoice)


@breaks("unneeded sentences")
def end_all_but_the_sentence(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    Rendering.objects.update(state=State.CANCELED)
    Job.objects.update(state=State.CANCELED, ended_at=database_now())
    age(Synthesis)


@breaks("lines of ended actions")
def die_while_an_action_is_canceled(owner: Member, engine: CountingEngine) -> None:
    job = order(owner, "One.")
    ended = {"state": State.CANCELED, "ended_at": database_now() - HOURS_AGO}
    for kind in ("warm", "batch"):
        action = CurationAction.objects.create(kind=kind, tenant=owner.tenant, **ended)
        CurationBlock.objects.create(action=action, first=3, lines=[{}])
        for number, (outcome, job_id) in enumerate([("open", job.id), ("waiting", None)]):
            columns = {"number": number, "outcome": outcome, "job_id": job_id, "tenant": owner.tenant}
            CurationLine.objects.create(action=action, **columns)


@breaks("idempotent requests without an answer")
def die_before_the_answer(owner: Member, engine: CountingEngine) -> None:
    long_ago = database_now() - HOURS_AGO
    IdempotentRequest.objects.create(tenant=owner.tenant, key="k", fingerprint="f", lease_until=long_ago)


@breaks("ended jobs without an event")
def lose_the_event(owner: Member, engine: CountingEngine) -> None:
    job = order(owner, "One.")
    endpoint = WebhookEndpoint.objects.create(tenant=owner.tenant, url="https://example.com/")
    ended = {"state": State.CANCELED, "ended_at": database_now() - HOURS_AGO}
    Rendering.objects.update(**ended)
    Job.objects.filter(id=job.id).update(callback=endpoint, accounted=True, **ended)


@breaks("sentences that nobody speaks")
def have_no_engine_worker(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    age(Synthesis)


@breaks("renditions that nobody joins")
def have_no_io_worker(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    speak_all(engine)
    age(Rendering)


@breaks("sentences whose worker is gone")
def lose_an_engine_worker(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    claim()
    Synthesis.objects.update(lease_until=database_now() - HOURS_AGO)


@breaks("renderings whose worker is gone")
def lose_an_io_worker(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    speak_all(engine)
    claim_rendering(WORKER)
    Rendering.objects.update(lease_until=database_now() - HOURS_AGO)


@breaks("voices whose worker is gone")
def lose_a_decoder(owner: Member, engine: CountingEngine) -> None:
    voice(owner, state=State.RUNNING, lease_until=database_now() - HOURS_AGO)


def event(owner: Member, **columns: Any) -> WebhookEvent:
    kind = {"type": "voice.ready", "subject": "vox_1"}
    return WebhookEvent.objects.create(tenant=owner.tenant, created_at=database_now() - HOURS_AGO, **kind, **columns)


def delivery(owner: Member, **columns: Any) -> None:
    endpoint = WebhookEndpoint.objects.create(tenant=owner.tenant, url="https://example.com/")
    to = {"url": endpoint.url, "subject": "vox_1", "endpoint": endpoint, "event": event(owner, routed=True)}
    WebhookDelivery.objects.create(tenant=owner.tenant, **to, **columns)


@breaks("deliveries whose worker is gone")
def lose_a_sender(owner: Member, engine: CountingEngine) -> None:
    delivery(owner, state=State.RUNNING, lease_until=database_now() - HOURS_AGO)


@breaks("deliveries not sent")
def send_nothing(owner: Member, engine: CountingEngine) -> None:
    delivery(owner, not_before=database_now() - HOURS_AGO)


@breaks("events without deliveries")
def route_nothing(owner: Member, engine: CountingEngine) -> None:
    event(owner)


@breaks("deleted voices not erased")
def erase_nothing(owner: Member, engine: CountingEngine) -> None:
    voice(owner, state=State.CANCELED, ended_at=database_now() - HOURS_AGO)


@breaks("discarded objects not deleted")
def delete_nothing(owner: Member, engine: CountingEngine) -> None:
    long_ago = database_now() - HOURS_AGO
    DiscardedObject.objects.create(tenant=owner.tenant, digest="d" * 64, format="wav", not_before=long_ago)


@breaks("jobs without usage")
def account_nothing(owner: Member, engine: CountingEngine) -> None:
    order(owner, "One.")
    Rendering.objects.update(state=State.FAILED)
    Job.objects.update(state=State.FAILED, ended_at=database_now() - HOURS_AGO)


def test_each_check_has_a_case():
    assert set(BREAKS) == set(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_it_finds_what_it_is_for_and_puts_it_right(world, engine, redis_server, name):
    cards.publish(engine.card)
    check = CHECKS[name]
    assert check.look() == (0, [])
    BREAKS[name](world.owner, engine)
    redis_server.flush()
    found, examples = check.look()
    assert found >= 1
    assert len(examples) >= 1
    check.put_right()
    with redis_server.client() as client:
        rung = client.keys("rf1:bell:*")
    # What a bell repairs is done by workers; here there are none.
    assert rung if check in OVERDUE and check.look()[0] else check.look() == (0, [])


def test_good_order_is_left_alone(world, engine):
    """Of work at every stage, however long it takes, nothing is found as long as somebody is at it."""
    cards.publish(engine.card)
    order(world.owner, "One.")
    work(engine)
    order(world.owner, "Two.")
    speak_all(engine)
    order(world.owner, "Three. Four. Five.")
    claim()
    age(Rendering)
    age(Synthesis)
    Rendering.objects.filter(state=State.QUEUED).update(created_at=database_now())
    assert {name for name, check in CHECKS.items() if check.look()[0]} == set()


def test_jobs_end_as_their_rendering_did(world, engine):
    end_the_rendering_alone(world.owner, engine)
    CHECKS["jobs left open"].put_right()
    job = Job.objects.get()
    assert (job.state, job.error_code, job.error_detail) == ("failed", "told_to_fail", "By hand.")
    assert job.ended_at is not None


def test_a_rendering_that_somebody_joins_is_not_forsaken(world, engine):
    end_the_job_alone(world.owner, engine)
    order(world.owner, "One.")
    CHECKS["forsaken renderings"].put_right()
    assert states(Rendering) == ["waiting"]


def test_lines_of_batches_stay_as_their_result(world, engine):
    die_while_an_action_is_canceled(world.owner, engine)
    CHECKS["lines of ended actions"].put_right()
    left = CurationLine.objects.values_list("action__kind", "outcome")
    assert sorted(left) == [("batch", "canceled"), ("batch", "canceled")]
    assert not CurationBlock.objects.exists()
    assert (states(Job), Rendering.objects.filter(state__in=OPEN).exists()) == (["canceled"], False)
