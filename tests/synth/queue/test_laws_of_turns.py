"""Laws of turns, whatever waits: nobody is served twice while another one waits, one in eight goes below, and whoever
has as much as it may is passed over.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from synth.models.states import Priority
from synth.queue.fairness import LOWER_CLASSES_EVERY, Rotation, Turn

TENANTS = [UUID(int=number) for number in range(1, 6)]
MORNING = datetime(2026, 11, 30, tzinfo=UTC)
AGES = st.integers(0, 1000)


def turn(tenant_id: UUID, age: int, *, priority: int = Priority.INTERACTIVE, most: int = 0) -> Turn:
    return Turn(priority=priority, tenant_id=tenant_id, since=MORNING - timedelta(seconds=age), most_running=most)


WAITING = st.tuples(st.sampled_from(TENANTS), AGES)


@given(st.lists(WAITING, min_size=1, max_size=40))
def test_nobody_is_served_twice_by_a_lone_worker_while_another_one_waits(arrivals: list[tuple[UUID, int]]) -> None:
    """Before each claim one arrives, besides those that did not get their turn yet."""
    rotation = Rotation()
    passed_over: dict[UUID, Counter[UUID]] = {}
    for tenant, age in arrivals:
        waiting = {TENANTS[0]: 2000, **dict.fromkeys(passed_over, 0), tenant: age}  # the first one has no end of work
        chosen = rotation.choose([turn(*one) for one in waiting.items()], {}, below=False)
        assert chosen is not None
        rotation.note(chosen.tenant_id)
        passed_over = {one: passed_over.get(one, Counter()) for one in waiting if one != chosen.tenant_id}
        for others in passed_over.values():
            others[chosen.tenant_id] += 1
            assert max(others.values()) == 1


@given(
    st.lists(st.tuples(st.sampled_from(TENANTS), AGES, st.integers(0, 2), st.integers(0, 3)), max_size=15),
    st.dictionaries(st.sampled_from(TENANTS), st.integers(0, 4)),
    st.booleans(),
)
def test_a_turn_goes_to_whom_it_may(
    waiting: list[tuple[UUID, int, int, int]], running: dict[UUID, int], below: bool
) -> None:
    turns = [turn(tenant, age, priority=priority, most=most) for tenant, age, priority, most in waiting]
    free = [one for one in turns if not one.most_running or running.get(one.tenant_id, 0) < one.most_running]
    chosen = Rotation().choose(turns, running, below=below)
    if not free:
        assert chosen is None
        return
    assert chosen in free
    lower = [one for one in free if one.priority > Priority.INTERACTIVE]
    if below and lower:
        assert chosen.since == min(one.since for one in lower)
        return
    assert chosen.priority == min(one.priority for one in free)
    rivals = [one for one in free if one.priority == chosen.priority]
    assert running.get(chosen.tenant_id, 0) == min(running.get(one.tenant_id, 0) for one in rivals)


def test_one_claim_in_eight_goes_below() -> None:
    rotation = Rotation()
    below = [rotation.goes_below() for _ in range(5 * LOWER_CLASSES_EVERY)]
    assert below == ([False] * 7 + [True]) * 5
