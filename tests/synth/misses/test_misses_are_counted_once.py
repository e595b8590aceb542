"""Several workers at once, one that dies in the middle, and more misses than examples are kept."""

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from synth import census
from synth.models import Job, MissDay, MissExample
from synth.service import missing
from tests.synth.misses.conftest import counted, judged
from tests.synth.queue.desk import at_once, order
from tests.world import World

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def asked(world: World, count: int) -> None:
    for number in range(count):
        order(world.owner, f"The {WORDS[number % 12]} of the {WORDS[number // 12]} hats.")


def test_workers_at_once_count_each_miss_once(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(missing, "BATCH", 10)
    monkeypatch.setattr(missing, "EXAMPLES", 7)
    asked(world, 40)

    def drain() -> int:
        rounds = 0
        while Job.objects.filter(miss_reason="").exists():
            missing._judge_batch()
            rounds += 1
        return rounds

    assert all(isinstance(rounds, int) for rounds in at_once([drain] * 3))
    assert counted(world.owner) == {"first_seen": 40}
    assert MissExample.objects.count() == 7


def test_what_dies_in_the_middle_has_counted_nothing(world: World, monkeypatch: pytest.MonkeyPatch):
    asked(world, 3)
    with monkeypatch.context() as patched:
        patched.setattr(missing, "_show", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            missing.judge_misses()
    assert Counter(Job.objects.values_list("miss_reason", flat=True)) == {"": 3}
    assert not MissDay.objects.exists()
    assert judged(world.owner) == {"first_seen": 3}


def test_the_last_of_each_reason_are_kept_as_examples(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(missing, "EXAMPLES", 3)
    for portion in (5, 1, 2):
        asked(world, portion)
        missing.judge_misses()
    newest = Job.objects.order_by("-created_at").values_list("id", flat=True)[:3]
    assert set(MissExample.objects.values_list("job_id", flat=True)) == set(newest)
    assert counted(world.owner) == {"first_seen": 8}


def test_prometheus_hears_of_each_miss(world: World):
    asked(world, 2)
    for _ in range(2):
        missing.judge_misses()
    (told,) = census.misses()
    assert {sample.labels["reason"]: sample.value for sample in told.samples if sample.value} == {"first_seen": 2}


def test_each_look_takes_an_index(world: World):
    asked(world, 2)
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as captured:
        missing.judge_misses()
        looks = [
            query["sql"] for query in captured if "likeness" in query["sql"] or "miss_reason\" = ''" in query["sql"]
        ]
        if connection.vendor == "postgresql":  # else it would read so few rows as they come
            cursor.execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off")
        explain = "EXPLAIN " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN "
        plans = [
            str(cursor.execute(explain + sql.replace("%", "%%")).fetchall()) for sql in looks if sql[:6] == "SELECT"
        ]
        if connection.vendor == "postgresql":
            cursor.execute("RESET ALL")
    assert any("job_not_judged" in plan for plan in plans)
    assert any("rendering_likeness" in plan for plan in plans)
