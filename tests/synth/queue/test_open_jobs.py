"""How many requests of a tenant may wait: beyond that nothing is written, and the count is exact, also at once."""

from __future__ import annotations

from functools import partial

import pytest
from django.conf import settings
from django.test import override_settings

from synth.errors import TooManyJobs
from synth.models import Job, Rendering, RenderingPart, Synthesis
from synth.models.states import Priority
from synth.service.endings import cancel_job
from synth.service.submission import MadeMeanwhile
from synth.types import CacheMode
from tenants import service
from tests.synth.queue.desk import at_once, order, work

ROWS = (Job, Rendering, RenderingPart, Synthesis)
CLIENTS = 50
LIMIT = 100


def allow(member, most: int | None) -> None:
    service.limit_work(member.tenant, max_open_jobs=most, max_running=None)


def counts() -> list[int]:
    return [kind.objects.count() for kind in ROWS]


def is_refused(member, text: str, **how) -> bool:
    try:
        order(member, text, **how)
    except TooManyJobs:
        return True
    return False


@pytest.mark.django_db
class TestOneAfterAnother:
    @pytest.fixture(autouse=True)
    def _two(self, world) -> None:
        allow(world.owner, 2)

    def test_one_more_is_refused_and_leaves_no_row(self, world):
        order(world.owner, "One.")
        order(world.owner, "Two.")
        before = counts()
        with pytest.raises(TooManyJobs) as refused:
            order(world.owner, "Three.")
        assert (refused.value.status, refused.value.params, refused.value.retry_after) == (429, {"most": 2}, 5)
        assert counts() == before

    def test_another_tenant_has_a_limit_of_its_own(self, world):
        order(world.owner, "One.")
        order(world.owner, "Two.")
        assert not is_refused(world.stranger, "Three.")

    def test_what_joins_work_under_way_is_one_more(self, world):
        order(world.owner, "One.")
        order(world.owner, "One.")
        assert is_refused(world.owner, "One.")

    @pytest.mark.parametrize("cache", CacheMode)
    def test_however_it_is_asked_for(self, world, cache):
        order(world.owner, "One.", cache=cache)
        order(world.owner, "Two.", cache=cache)
        assert is_refused(world.owner, "Three.", cache=cache)

    def test_what_ends_makes_room(self, world, engine):
        first = order(world.owner, "One.")
        order(world.owner, "Two fail-permanently.")
        cancel_job(world.owner.ref, first.id)
        assert not is_refused(world.owner, "Three.")
        work(engine)
        assert [is_refused(world.owner, text) for text in ("Four.", "Five.", "Six.")] == [False, False, True]

    def test_what_was_made_meanwhile_is_never_refused(self, world, engine):
        order(world.owner, "One.")
        work(engine)
        order(world.owner, "Two.")
        order(world.owner, "Three.")
        with pytest.raises(MadeMeanwhile):
            order(world.owner, "One.")

    @pytest.mark.parametrize("priority", [Priority.BATCH, Priority.REWARM])
    def test_batches_and_renewals_neither_count_nor_are_refused(self, world, priority):
        for text in ("One.", "Two.", "Three."):
            order(world.owner, text, priority=priority)
        order(world.owner, "Four.")
        order(world.owner, "One.")
        assert is_refused(world.owner, "Two.")
        assert not is_refused(world.owner, "Five.", priority=priority)

    @pytest.mark.parametrize(("own", "platforms", "allowed"), [(None, 1, 1), (3, 1, 3), (0, 1, 4), (None, 0, 4)])
    def test_a_tenants_own_limit_comes_before_the_platforms(self, world, own, platforms, allowed):
        allow(world.owner, own)
        with override_settings(REFRAIN={**settings.REFRAIN, "MAX_OPEN_JOBS": platforms}):
            refused = [is_refused(world.owner, f"Sentence {number}.") for number in range(4)]
        assert refused == [number >= allowed for number in range(4)]

    def test_a_lowered_limit_leaves_what_waits(self, world, engine):
        order(world.owner, "One.")
        order(world.owner, "Two.")
        allow(world.owner, 1)
        assert is_refused(world.owner, "Three.")
        work(engine)
        assert Job.objects.filter(state="succeeded").count() == 2


def test_fifty_clients_at_once_get_exactly_as_many_in_as_may_wait(committed_world):
    """Each asks for four; half of them for what another one asks for, too."""
    allow(committed_world.owner, LIMIT)

    def four(client: int) -> list[bool]:
        texts = [f"Sentence {number} of {client // 2 if number % 2 else client}." for number in range(4)]
        return [is_refused(committed_world.owner, text) for text in texts]

    answers = at_once([partial(four, client) for client in range(CLIENTS)], seconds=120)
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    accepted = sum(not refused for answer in answers for refused in answer)
    assert (accepted, Job.objects.count()) == (LIMIT, LIMIT)
