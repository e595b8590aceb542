"""Whose turn it is: class first, then who has least at work, then age; one claim in eight goes below."""

from __future__ import annotations

from itertools import count

import pytest

from synth.models import Synthesis
from synth.models.states import Priority
from synth.queue import claim as claiming
from tests.synth.queue.desk import claim, order

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _count_from_one(monkeypatch):
    monkeypatch.setattr(claiming, "_claims", count(1))


def texts_of(claims: int) -> list[str]:
    claimed = [claim() for _ in range(claims)]
    return [row.segment["text"] for row in claimed if row is not None]


def flood(member, number: int) -> None:
    template = order(member, "Flood 0.").rendering.parts.get().synthesis
    Synthesis.objects.bulk_create(
        Synthesis(
            tenant=member.tenant,
            engine=template.engine,
            model_version=template.model_version,
            key=f"{at}",
            flight=f"flood{at}",
            segment={**template.segment, "text": f"Flood {at}."},
        )
        for at in range(1, number)
    )


def test_a_tenant_with_a_thousand_sentences_does_not_starve_another(world):
    flood(world.owner, 1000)
    claim()
    order(world.stranger, "One. Two. Three.")
    turns = [row.tenant_id == world.stranger.tenant.id for row in (claim() for _ in range(6)) if row]
    assert turns == [True, False, True, False, True, False]


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
    order(world.owner, "One. Two.")
    lapse(claim())
    order(world.stranger, "Three.")
    assert texts_of(1) == ["One."]


def test_a_worker_claims_only_its_own_engine_and_version(world):
    order(world.owner, "One.", engine="another")
    order(world.owner, "Two.", version="counting-2")
    assert claim() is None
    assert claim(version="counting-2").segment["text"] == "Two."
    assert claim(engine="another").segment["text"] == "One."
