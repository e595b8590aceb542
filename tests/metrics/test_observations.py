"""The times of answers, phrases, failures and samples reach their rows once, and cost a hit no SQL."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from synth import dashboard, observed
from synth.models import FailureDay, Job, LatencyDay, PhraseDay, Sample
from synth.models.states import State
from synth.service import drain_usage
from tests.finished import Finished
from tests.synth.admin.rows import CHINESE, make_entry, make_work, publish_card
from tests.synth.cache.conftest import Speaker, ask, finished, fresh_parts, world  # noqa: F401 - fixtures


@pytest.fixture(autouse=True)
def _nothing_seen_yet(db):
    """What the histograms of this process hold of other tests is none of this one's."""
    observed._recorder._notes.clear()
    observed._recorder._seen = observed._counted()


def answers(what: str) -> int:
    return sum(LatencyDay.objects.filter(what=what).values_list("answers", flat=True))


def test_hits_are_added_to_their_day_once(ask: Speaker, finished: Finished) -> None:  # noqa: F811
    for _ in range(4):
        assert ask().status_code == 200
    observed.flush()
    observed.flush()
    assert answers("hit") == 4
    [phrase] = PhraseDay.objects.all()
    assert (phrase.key, phrase.answers, phrase.day) == (finished.entry.key, 4, timezone.now().date())
    assert answers("redis") >= 4
    ask()
    observed.flush()
    assert answers("hit") == 5
    assert PhraseDay.objects.get().answers == 5


def test_a_write_that_fails_is_made_up_for(ask: Speaker, finished: Finished, monkeypatch) -> None:  # noqa: F811
    from django.db import DatabaseError

    def fail(*_: object, **__: object) -> None:
        raise DatabaseError("away")

    ask()
    with monkeypatch.context() as away:
        away.setattr(observed, "add_to", fail)
        observed.flush()
    assert answers("hit") == 0
    observed.flush()
    assert (answers("hit"), PhraseDay.objects.get().answers) == (1, 1)


def test_the_most_frequent_phrases_are_written_first(world, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr(observed, "MOST_WRITTEN", 2)
    for key, times in (("a" * 64, 1), ("b" * 64, 3), ("c" * 64, 2)):
        for _ in range(times):
            observed.note(world.owner.tenant.ref, key)
    observed.flush()
    assert {row.key[0]: row.answers for row in PhraseDay.objects.all()} == {"b": 3, "c": 2}


def test_failures_are_counted_once_by_their_code(world) -> None:  # noqa: F811
    for text in ("one", "two"):
        make_work(world.owner.tenant, text, state=State.FAILED)
    make_work(world.owner.tenant, "three")
    for _ in range(3):
        drain_usage()
    [row] = FailureDay.objects.all()
    assert (row.code, row.engine, row.failures) == ("engine_error", "kokoro", 2)
    Job.objects.filter(state=State.FAILED).update(accounted=False)  # as if their usage had not been marked
    drain_usage()
    assert FailureDay.objects.get().failures == 4


def test_one_sample_a_minute_and_the_catalogue_counted_seldom(world) -> None:  # noqa: F811
    publish_card()
    entry = make_entry(world.owner.tenant, CHINESE)
    make_work(world.owner.tenant, CHINESE, state=State.QUEUED)
    first = dashboard.take_sample()
    assert first is not None
    assert first.values["queues"]["kokoro"]["waiting"] == 1
    assert first.values["redis"]["used"] > 0
    assert first.values["storage"]["bytes"] >= entry.size
    assert dashboard.take_sample() is None
    Sample.objects.update(at=timezone.now() - timedelta(minutes=1))
    second = dashboard.take_sample()
    assert second is not None
    assert second.values["storage"] is None
    assert dashboard.state().storage == first.values["storage"]


def test_with_redis_away_a_sample_is_taken_all_the_same(world, redis_server) -> None:  # noqa: F811
    redis_server.kill()
    taken = dashboard.take_sample()
    assert taken is not None
    assert taken.values["redis"] is None
