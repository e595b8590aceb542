"""Whose turn it is: class first, then who has least at work, then age; one claim in eight goes below."""

from __future__ import annotations

from collections import deque

import pytest

from synth.models import Rendering, Synthesis
from synth.models.states import Priority, State
from synth.queue import claim as claiming
from synth.queue.claim import claim_rendering
from synth.queue.fairness import Rotation
from synth.service.synthesis import synthesize
from tests.synth.queue.desk import WORKER, claim, order, said, speak_one

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _count_from_one(monkeypatch):
    monkeypatch.setattr(claiming, "_spoken", Rotation())
    monkeypatch.setattr(claiming, "_rendered", Rotation())


def texts_of(claims: int) -> list[str]:
    claimed = [claim() for _ in range(claims)]
    return [row.segment["text"] for row in claimed if row is not None]


def flood(member, number: int, *, priority: int = Priority.INTERACTIVE) -> None:
    template = order(member, "Flood 0.", priority=priority).rendering.parts.get().synthesis
    Synthesis.objects.bulk_create(
        Synthesis(
            tenant=member.tenant,
            engine=template.engine,
            model_version=template.model_version,
            key=f"{at}",
            flight=f"flood{at}",
            segment={**template.segment, "text": f"Flood {at}."},
            priority=priority,
        )
        for at in range(1, number)
    )


def flood_renderings(member, number: int) -> None:
    """Renditions whose sentences are all in, older than whatever comes later."""
    template = order(member, "A finished flood.").rendering
    Rendering.objects.bulk_create(
        Rendering(tenant=member.tenant, key=f"{at}", flight=f"flood{at}", spec=template.spec, state=State.QUEUED)
        for at in range(number)
    )


def test_a_tenant_with_a_thousand_sentences_does_not_starve_another(world):
    flood(world.owner, 1000)
    claim()
    order(world.stranger, "One. Two. Three.")
    turns = [row.tenant_id == world.stranger.tenant.id for row in (claim() for _ in range(6)) if row]
    assert turns == [True, False, True, False, True, False]


def test_a_lone_worker_serves_tenants_by_turns(world, engine, log):
    """Nothing runs any more when it claims again."""
    flood(world.owner, 30)
    for _ in range(3):
        speak_one(engine)
    order(world.stranger, "One. Two.")
    for _ in range(4):
        speak_one(engine)
    assert [text.startswith("Flood") for text in said(log)] == [True] * 3 + [False, True, False, True]


def test_two_floods_do_not_keep_two_workers_to_themselves(world, engine):
    """Of three tenants one has always nothing running, and it is not always the same two who take turns."""
    floods = world.owner, world.suspended
    for member in floods:
        flood(member, 50)
    running = deque(claim() for _ in floods)
    order(world.stranger, "One.")
    for _ in range(2):
        synthesize(running.popleft(), engine)
        running.append(claim())
    assert world.stranger.tenant.id in {row.tenant_id for row in running}


def test_a_batch_of_ten_thousand_lets_the_next_claim_but_one_go_to_a_request(world):
    """At worst the claim that comes next is the one in eight that goes to the batch."""
    flood(world.owner, 10_000, priority=Priority.BATCH)
    waited = []
    for number in range(1, 17):
        texts_of(number % 3)
        order(world.stranger, f"Request {number}.")
        turns = (claim().tenant_id == world.stranger.tenant.id for _ in range(3))
        waited.append(next(place for place, is_ours in enumerate(turns) if is_ours))
    assert set(waited) <= {0, 1}


def test_within_a_tenant_the_oldest_comes_first(world):
    order(world.owner, "One.")
    order(world.owner, "Two.")
    order(world.owner, "Three.")
    assert texts_of(3) == ["One.", "Two.", "Three."]


def test_between_tenants_with_equal_work_the_oldest_comes_first(world):
    order(world.stranger, "One.")
    order(world.owner, "Two.")
    assert texts_of(2) == ["One.", "Two."]


def test_interactive_comes_before_batch_before_rewarming(world):
    order(world.owner, "Rewarm.", priority=Priority.REWARM)
    order(world.owner, "Batch.", priority=Priority.BATCH)
    order(world.stranger, "Interactive.")
    assert texts_of(3) == ["Interactive.", "Batch.", "Rewarm."]


def test_one_claim_in_eight_goes_to_what_waited_longest_below(world):
    order(world.owner, "Rewarm.", priority=Priority.REWARM)
    order(world.owner, "Batch.", priority=Priority.BATCH)
    flood(world.stranger, 100)
    claimed = texts_of(16)
    assert [text for text in claimed if not text.startswith("Flood")] == ["Rewarm.", "Batch."]
    assert (claimed[7], claimed[15]) == ("Rewarm.", "Batch.")


def test_the_eighth_claim_is_not_lost_when_nothing_waits_below(world):
    flood(world.owner, 20)
    assert len(texts_of(16)) == 16


def test_running_work_whose_lease_ran_out_does_not_count_against_its_tenant(world, lapse):
    order(world.stranger, "Three. Four.")
    claim()
    order(world.owner, "One. Two.")
    lapse(claim())
    assert texts_of(1) == ["One."]


def test_a_worker_claims_only_its_own_engine_and_version(world):
    order(world.owner, "One.", engine="another")
    order(world.owner, "Two.", version="counting-2")
    assert claim() is None
    assert claim(version="counting-2").segment["text"] == "Two."
    assert claim(engine="another").segment["text"] == "One."


def test_a_tenant_with_a_thousand_finished_texts_does_not_keep_anothers_from_being_joined(world, engine):
    flood_renderings(world.owner, 1000)
    claim_rendering(WORKER)
    order(world.stranger, "One.")
    order(world.stranger, "Two.")
    Rendering.objects.filter(tenant=world.stranger.tenant).update(state=State.QUEUED)
    turns = [claim_rendering(WORKER).tenant_id == world.stranger.tenant.id for _ in range(4)]
    assert turns == [True, False, True, False]


def test_renditions_of_lower_classes_get_one_claim_in_eight(world):
    flood_renderings(world.owner, 20)
    order(world.stranger, "Batch.", priority=Priority.BATCH)
    Rendering.objects.filter(tenant=world.stranger.tenant).update(state=State.QUEUED)
    owners = [claim_rendering(WORKER).tenant_id for _ in range(8)]
    assert owners == [world.owner.tenant.id] * 7 + [world.stranger.tenant.id]


def test_an_interactive_request_raises_what_two_batches_wait_for(world):
    order(world.owner, "One. Two.", priority=Priority.BATCH)
    order(world.owner, "Two. Three.", priority=Priority.REWARM)
    order(world.stranger, "Another one.")
    order(world.owner, "Two. Four.")
    assert {row.segment["text"]: row.priority for row in Synthesis.objects.filter(tenant=world.owner.tenant)} == {
        "One.": Priority.BATCH,
        "Two.": Priority.INTERACTIVE,
        "Three.": Priority.REWARM,
        "Four.": Priority.INTERACTIVE,
    }
    assert texts_of(5) == ["Two.", "Another one.", "Four.", "One.", "Three."]
