"""How many sentences of a tenant may be spoken at a time: it is passed over meanwhile, and others go on."""

from __future__ import annotations

from functools import partial

import pytest
from django.conf import settings
from django.test import override_settings

from synth.models import Synthesis
from synth.models.states import Priority, State
from synth.queue.claim import Worker, claim_rendering, has_work
from synth.service.synthesis import synthesize
from tenants import service
from tests.synth.queue.desk import VERSION, WORKER, at_once, claim, order, speak_all, work

SENTENCES = "One. Two. Three. Four. Five."


def allow(member, most: int | None) -> None:
    service.limit_work(member.tenant, max_open_jobs=None, max_running=most)


def claimed(times: int) -> list[str]:
    rows = [claim() for _ in range(times)]
    return [row.tenant.slug for row in rows if row is not None]


@pytest.mark.django_db
class TestOneAfterAnother:
    @pytest.fixture(autouse=True)
    def _two(self, world) -> None:
        allow(world.owner, 2)
        order(world.owner, SENTENCES)

    def test_no_more_are_claimed(self):
        assert claimed(5) == ["owner", "owner"]
        assert has_work("counting", VERSION)

    def test_the_others_go_on(self, world):
        claimed(2)
        order(world.stranger, SENTENCES)
        assert claimed(5) == ["stranger"] * 5

    def test_lower_classes_of_others_go_on_too(self, world):
        claimed(2)
        order(world.stranger, "Rewarm.", priority=Priority.REWARM)
        order(world.owner, "Batch.", priority=Priority.BATCH)
        assert claimed(9) == ["stranger"]

    def test_each_that_ends_makes_room_for_one(self, engine):
        first, _ = claim(), claim()
        synthesize(first, engine)
        assert claimed(3) == ["owner"]

    def test_a_worker_that_died_makes_room(self, lapse):
        lapse(claim())
        claim()
        assert claimed(3) == ["owner"]

    def test_all_engines_count_together(self, world):
        order(world.owner, "Elsewhere.", engine="another")
        order(world.stranger, "Elsewhere.", engine="another")
        claimed(2)
        assert claim(engine="another").tenant.slug == "stranger"
        assert claim(engine="another") is None

    def test_one_worker_finishes_all_of_it(self, world, engine):
        allow(world.owner, 1)
        assert speak_all(engine) == 5

    def test_renditions_are_joined_all_the_same(self, world, engine):
        work(engine)
        allow(world.owner, 1)
        order(world.owner, "One. Two. Three.")
        order(world.owner, "Two. Three. Four.")
        assert claim_rendering(WORKER)
        assert claim_rendering(WORKER)


@pytest.mark.django_db
@pytest.mark.parametrize(("own", "platforms", "running"), [(None, 2, 2), (3, 2, 3), (0, 2, 5), (None, 0, 5)])
def test_a_tenants_own_limit_comes_before_the_platforms(world, own, platforms, running):
    allow(world.owner, own)
    order(world.owner, SENTENCES)
    with override_settings(REFRAIN={**settings.REFRAIN, "MAX_RUNNING": platforms}):
        assert len(claimed(5)) == running


def test_workers_at_once_never_claim_more(committed_world):
    for member, most in ((committed_world.owner, 3), (committed_world.stranger, 1)):
        allow(member, most)
        order(member, SENTENCES)
    rows = at_once([partial(claim, Worker(f"worker{number}", lease=60)) for number in range(10)])
    assert [row for row in rows if isinstance(row, Exception)] == []
    running = Synthesis.objects.filter(state=State.RUNNING).values_list("tenant__slug", flat=True)
    assert sorted(running) == ["owner"] * 3 + ["stranger"]
