"""Sums by day go with the rows: each row counts once, whoever writes it and however often, and in the day of UTC."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenants.models import Usage, UsageDay
from tenants.models.usage_day import NO_KEY, SPOKEN
from tenants.usage import add_spoken, correct_gap, write_usage

pytestmark = pytest.mark.django_db
ACME, KEY = UUID(int=7), UUID(int=8)
MONDAY = datetime(2026, 11, 2, 12, tzinfo=UTC)


def used(number: int, **fields: Any) -> Usage:
    said = {"outcome": "hit", "engine": "kokoro", "voice": "zf_001", "characters": 10, "duration": 1.5, **fields}
    return Usage(id=UUID(int=number), tenant_id=ACME, api_key_id=KEY, **{"at": MONDAY, **said})


def sums(**which: Any) -> list[tuple[Any, ...]]:
    rows = UsageDay.objects.filter(**which).order_by("day", "outcome", "state")
    return list(rows.values_list("day", "outcome", "state", "requests", "characters", "seconds"))


def test_a_row_written_again_counts_once() -> None:
    write_usage([used(1), used(2), used(2)])
    write_usage([used(2), used(3, duration=None)])
    assert sums() == [(date(2026, 11, 2), "hit", "succeeded", 3, 30, 3.0)]
    assert Usage.objects.count() == 3


def test_days_outcomes_and_states_are_apart() -> None:
    late = datetime(2026, 11, 2, 23, 59, 59, tzinfo=UTC)
    write_usage([used(1, at=late), used(2, outcome="miss"), used(3, outcome="miss", state="failed", duration=None)])
    write_usage([used(4, at=datetime(2026, 11, 3, tzinfo=UTC))])
    assert sums() == [
        (date(2026, 11, 2), "hit", "succeeded", 1, 10, 1.5),
        (date(2026, 11, 2), "miss", "failed", 1, 10, 0.0),
        (date(2026, 11, 2), "miss", "succeeded", 1, 10, 1.5),
        (date(2026, 11, 3), "hit", "succeeded", 1, 10, 1.5),
    ]


def test_a_gap_that_has_grown_is_counted_once() -> None:
    for count in (3, 5, 5):
        gap = used(1, outcome="gap", count=count, characters=0, duration=None)
        gap.api_key_id = None
        correct_gap(gap)
    assert list(UsageDay.objects.values_list("api_key_id", "requests")) == [(NO_KEY, 5)]


def test_what_engines_spoke_stands_apart() -> None:
    for characters in (5, 7):
        add_spoken(ACME, KEY, day=MONDAY.date(), engine="kokoro", voice="zf_001", characters=characters)
    row = UsageDay.objects.get()
    assert (row.outcome, row.synthesised, row.requests, row.characters) == (SPOKEN, 12, 0, 0)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(st.integers(1, 12), max_size=8), max_size=6))
def test_days_are_the_sums_of_the_rows(batches: list[list[int]], db: None) -> None:
    Usage.objects.all().delete()
    UsageDay.objects.all().delete()
    for batch in batches:
        write_usage([used(number, outcome=("hit", "miss")[number % 2], characters=number) for number in batch])
    rows = list(Usage.objects.values_list("outcome", "characters"))
    told = {row.outcome: (row.requests, row.characters) for row in UsageDay.objects.all()}
    kept = {name: [count for outcome, count in rows if outcome == name] for name in {outcome for outcome, _ in rows}}
    assert told == {name: (len(counts), sum(counts)) for name, counts in kept.items()}
