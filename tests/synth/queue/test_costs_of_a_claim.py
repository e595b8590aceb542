"""A claim reads as much where ten thousand rows wait as where a hundred do: counted by the database, not timed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from synth.models import Rendering, Synthesis
from synth.models.states import Priority, State
from synth.queue.claim import claim_rendering
from tests.synth.queue.desk import WORKER, claim, order

pytestmark = pytest.mark.django_db
FEW, MANY = 100, 10_000
STEP = 10  # of SQLite's instructions


def sentences(member, number: int, *, first: int) -> None:
    """Half of them interactive, half of a batch; and as many that are done."""
    template = order(member, "The first one.").rendering.parts.get().synthesis
    Synthesis.objects.bulk_create(
        (
            Synthesis(
                tenant=member.tenant,
                engine=template.engine,
                model_version=template.model_version,
                key=f"{at}",
                flight=f"{state}{at}",
                segment=template.segment,
                priority=Priority.BATCH if at % 2 else Priority.INTERACTIVE,
                state=state,
            )
            for state in (State.QUEUED, State.SUCCEEDED)
            for at in range(first, first + number)
        ),
        batch_size=2000,
    )


def renditions(member, number: int, *, first: int) -> None:
    """A third waits for sentences, a third for a worker; the rest is done."""
    template = order(member, "The first one.").rendering
    Rendering.objects.bulk_create(
        (
            Rendering(tenant=member.tenant, key=f"{at}", flight=f"{state}{at}", spec=template.spec, state=state)
            for state in (State.WAITING, State.QUEUED, State.SUCCEEDED)
            for at in range(first, first + number)
        ),
        batch_size=2000,
    )


@contextmanager
def counted() -> Iterator[list[int]]:
    """What the database reads meanwhile, in its own measure: instructions of SQLite, rows of PostgreSQL's plans."""
    total = [0]

    def step() -> int:
        total[0] += 1
        return 0

    if connection.vendor == "sqlite":
        connection.connection.set_progress_handler(step, STEP)
        try:
            yield total
        finally:
            connection.connection.set_progress_handler(None, STEP)
        return
    with CaptureQueriesContext(connection) as queries:
        yield total
    asked = [query["sql"] for query in queries if query["sql"].lstrip().startswith(("SELECT", "WITH", "UPDATE"))]
    total[0] = sum(rows_of(sql) for sql in asked)


def rows_of(sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + sql.replace("%", "%%"), [])
        found = cursor.fetchone()[0]
    plan = found if isinstance(found, list) else json.loads(found)
    return rows_of_plan(plan[0]["Plan"])


def rows_of_plan(node: dict[str, Any]) -> int:
    read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return int(read * node["Actual Loops"]) + sum(rows_of_plan(part) for part in node.get("Plans", []))


def cost(take: Callable[[], Any]) -> int:
    """Of the dearest of nine claims, one of which goes below."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as autovacuum does within a minute
    costs = []
    for _ in range(9):
        with counted() as total:
            assert take() is not None
        costs.append(total[0])
    return max(costs)


@pytest.mark.parametrize(
    ("fill", "take"),
    [(sentences, claim), (renditions, lambda: claim_rendering(WORKER))],
    ids=["sentence", "rendition"],
)
def test_a_claim_costs_the_same_where_a_hundred_times_as_much_waits(world, fill, take):
    for member in (world.owner, world.stranger):
        fill(member, FEW, first=0)
    few = cost(take)
    fill(world.owner, MANY, first=FEW)
    assert cost(take) <= 2 * few
