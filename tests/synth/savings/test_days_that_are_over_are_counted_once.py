"""Days that are over are summed up, once: what is told of them stays the same, also without the rows of usage."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth import hits
from synth.hits import Hits, count_finished_days, hits_by_day
from synth.models import CountedDay, EngineDay
from tenants.models import Usage
from tests.synth.savings.world import MONDAY, TUESDAY, measured, moment, request
from tests.world import World, world  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
def used(world: World) -> World:  # noqa: F811
    for tenant, characters in ((world.owner.tenant, 10), (world.owner.tenant, 20), (world.stranger.tenant, 40)):
        request(tenant, moment(MONDAY), characters)
    request(world.owner.tenant, moment(TUESDAY), 5, engine="hibari", outcome="stale")
    request(world.owner.tenant, moment(TUESDAY), 999, outcome="miss")
    measured(world.owner.tenant, MONDAY, runs=1, characters=7, engine_seconds=0.7)
    return world


def test_counting_changes_nothing_in_what_is_told(used: World) -> None:
    before = [hits_by_day(MONDAY, TUESDAY, tenant=tenant) for tenant in (None, used.owner.ref, used.stranger.ref)]
    assert before[0] == {
        (MONDAY, "kokoro"): Hits(hits=3, characters=70),
        (TUESDAY, "hibari"): Hits(hits=1, characters=5),
    }
    assert count_finished_days() >= 2
    Usage.objects.all().delete()
    after = [hits_by_day(MONDAY, TUESDAY, tenant=tenant) for tenant in (None, used.owner.ref, used.stranger.ref)]
    assert after == before
    assert EngineDay.objects.get(tenant=used.owner.tenant, engine="kokoro").engine_seconds == 0.7


def test_a_day_is_counted_once(used: World) -> None:
    assert count_finished_days() > 0
    request(used.owner.tenant, moment(MONDAY), 1)
    assert count_finished_days() == 0
    assert hits_by_day(MONDAY, MONDAY)[MONDAY, "kokoro"].hits == 3


def test_a_day_that_may_still_grow_is_not_counted(world: World, monkeypatch) -> None:  # noqa: F811
    now = datetime.now(UTC)
    request(world.owner.tenant, now, 1)
    assert count_finished_days() == 0
    request(world.owner.tenant, now - timedelta(days=1), 1)
    yesterday = now.date() - timedelta(days=1)
    late = (timedelta(hours=23), timedelta(0)) if now.hour < 12 else (timedelta(hours=24), timedelta(0))
    for wait, counted in zip(late, (False, True), strict=True):
        monkeypatch.setattr(hits, "LATE", wait)
        count_finished_days()
        assert CountedDay.objects.filter(day=yesterday).exists() is counted
    assert not CountedDay.objects.filter(day=now.date()).exists()


def test_days_that_are_counted_and_days_that_are_not_add_up(used: World) -> None:
    before = hits_by_day(MONDAY - timedelta(days=2), TUESDAY + timedelta(days=2))
    hits._count(MONDAY)
    assert hits_by_day(MONDAY - timedelta(days=2), TUESDAY + timedelta(days=2)) == before
    hits._count(TUESDAY + timedelta(days=1))
    assert hits_by_day(MONDAY - timedelta(days=2), TUESDAY + timedelta(days=2)) == before


days = st.integers(0, 12).map(lambda number: MONDAY + timedelta(days=number))


@given(days, days, st.sets(days))
def test_stretches_hold_each_day_that_is_left_once(first, last, without) -> None:
    told = [day for begin, end in hits._spans(first, last, without=without) for day in hits._days(begin, end)]
    assert told == [day for day in hits._days(first, last) if day not in without]
