"""A Redis that comes and goes lets nobody ask more than the limit says: its allowance and the process's are one."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tenants.limits import SECOND, LocalBuckets, Metered, RateLimited
from tenants.types import Limit

LIMIT = Limit(rate=5, burst=5)
METERED = [Metered("key", "k", LIMIT)]

# For each request: the microseconds since the one before it, and whether Redis answers.
requests = st.lists(st.tuples(st.integers(0, 2 * SECOND), st.booleans()), max_size=80)


class Process:
    """One that does as `synth/service/admission.py` does, beside a Redis."""

    def __init__(self) -> None:
        self.redis = LocalBuckets(processes=1)
        self.local = LocalBuckets(processes=1)

    def lets_in(self, now: int, *, redis_answers: bool) -> bool:
        try:
            if redis_answers:
                (owed,) = self.local.owed(METERED, now=now)
                self.redis._full_at["k"] = max(self.redis._full_at.get("k", 0), now + owed)  # as hit.lua does
                self.local.follow(METERED, self.redis.take(METERED, now=now), now=now)
            else:
                self.local.take(METERED, now=now)
        except RateLimited:
            return False
        return True


@given(requests)
@example([(0, False), (400_001, False), *[(0, False)] * 4, (599_999, True), (0, False), (0, False)])
@settings(deadline=None)
def test_over_any_span_of_time(told: list[tuple[int, bool]]) -> None:
    process, now, times = Process(), 0, []
    for pause, redis_answers in told:
        now += pause
        if process.lets_in(now, redis_answers=redis_answers):
            times.append(now)
    for first in range(len(times)):
        for last in range(first, len(times)):
            assert last - first + 1 <= LIMIT.burst + LIMIT.rate * (times[last] - times[first]) / SECOND


def test_it_goes_on_from_what_redis_told() -> None:
    process = Process()
    assert all(process.lets_in(0, redis_answers=True) for _ in range(LIMIT.burst))
    assert not process.lets_in(0, redis_answers=False)
    assert process.lets_in(SECOND, redis_answers=False)


def test_redis_is_told_once_of_what_was_let_in_without_it() -> None:
    process = Process()
    assert process.lets_in(0, redis_answers=False)
    assert process.local.owed(METERED, now=0) == (LIMIT.step,)
    assert process.lets_in(0, redis_answers=True)
    assert process.local.owed(METERED, now=0) == (0,)
    assert sum(process.lets_in(0, redis_answers=True) for _ in range(10)) == LIMIT.burst - 2
