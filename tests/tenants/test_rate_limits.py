"""Rate limits as values: no schedule of requests gets more than the burst and the rate, shared by processes or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenants import service
from tenants.errors import InvalidRequest
from tenants.limits import SECOND, Allowance, LocalBuckets, Metered, RateLimited, header_fields, limit_of
from tenants.types import Limit

LIMITS = st.builds(Limit, rate=st.floats(0.5, 500), burst=st.integers(1, 50))
GAPS = st.lists(st.integers(0, 2 * SECOND), min_size=1, max_size=150)


def admitted(buckets: LocalBuckets, limit: Limit, now: int, *others: Metered) -> bool:
    try:
        buckets.take([Metered("tenant", "t", limit), *others], now=now)
    except RateLimited:
        return False
    return True


@given(LIMITS, GAPS)
def test_over_any_span_no_more_than_burst_and_rate(limit: Limit, gaps: list[int]) -> None:
    buckets, now, times = LocalBuckets(processes=1), 0, []
    for gap in gaps:
        now += gap
        if admitted(buckets, limit, now):
            times.append(now)
    for first, begin in enumerate(times):
        for last, end in enumerate(times[first:], start=first):
            assert last - first + 1 <= limit.burst + limit.rate * (end - begin) / SECOND + 1e-6


@given(LIMITS, GAPS)
def test_what_the_limit_allows_is_let_in(limit: Limit, gaps: list[int]) -> None:
    """Who keeps to the rate is never refused, and after a pause a whole burst is there again."""
    buckets, now = LocalBuckets(processes=1), 0
    for _ in range(20):
        now += limit.step
        assert admitted(buckets, limit, now)
    now += limit.step * limit.burst
    assert all(admitted(buckets, limit, now) for _ in range(limit.burst))
    assert not admitted(buckets, limit, now)


@given(LIMITS, st.integers(1, 6), st.lists(st.tuples(st.integers(0, 5), st.integers(0, SECOND)), max_size=150))
def test_processes_that_share_are_together_no_looser(
    limit: Limit, processes: int, schedule: list[tuple[int, int]]
) -> None:
    shares = [LocalBuckets(processes=processes) for _ in range(processes)]
    now, let_in = 0, 0
    for which, gap in schedule:
        now += gap
        let_in += admitted(shares[which % processes], limit, now)
        assert let_in <= limit.burst + limit.rate * now / SECOND + 1e-6


def test_a_share_of_less_than_one_request_lets_one_in_after_its_time() -> None:
    share = LocalBuckets(processes=4)
    limit = Limit(rate=1, burst=1)
    assert not admitted(share, limit, 0)
    assert admitted(share, limit, 3 * SECOND)
    assert not admitted(share, limit, 6 * SECOND)


def test_what_one_limit_refuses_costs_the_other_nothing() -> None:
    buckets, tenant, key = LocalBuckets(processes=1), Limit(1, 3), Metered("key", "k", Limit(1, 1))
    assert admitted(buckets, tenant, 0, key)
    assert not admitted(buckets, tenant, 0, key)
    assert admitted(buckets, tenant, 0)
    assert admitted(buckets, tenant, 0)
    assert not admitted(buckets, tenant, 0)


def test_another_bucket_is_another() -> None:
    buckets = LocalBuckets(processes=1)
    buckets.take([Metered("tenant", "a", Limit(1, 1))], now=0)
    buckets.take([Metered("tenant", "b", Limit(1, 1))], now=0)


def test_a_refusal_says_how_long_to_wait_and_what_is_left() -> None:
    buckets, limit = LocalBuckets(processes=1), Limit(rate=2, burst=3)
    told = [buckets.take([Metered("tenant", "t", limit)], now=0)[0].remaining for _ in range(3)]
    assert told == [2, 1, 0]
    with pytest.raises(RateLimited) as caught:
        buckets.take([Metered("tenant", "t", limit)], now=SECOND // 10)
    assert caught.value.retry_after == pytest.approx(0.4)
    assert "account" in caught.value.detail


def test_header_fields_are_structured_lists_of_the_draft() -> None:
    allowances = (Allowance("tenant", Limit(10, 20), 500_000), Allowance("key", Limit(0.5, 2), 2_000_001))
    assert header_fields(allowances) == {
        "RateLimit-Policy": '"tenant";q=20;w=2, "key";q=2;w=4',
        "RateLimit": '"tenant";r=15;t=1, "key";r=0;t=3',
    }
    assert header_fields(()) == {}


@pytest.mark.parametrize(
    ("rate", "burst", "expected"),
    [(None, None, Limit(7, 7)), (0, None, None), (2.5, None, Limit(2.5, 3)), (2.5, 40, Limit(2.5, 40))],
)
def test_what_two_settings_mean(rate: float | None, burst: int | None, expected: Limit | None) -> None:
    assert limit_of(rate, burst, default=Limit(7, 7)) == expected


@pytest.mark.django_db
@pytest.mark.parametrize(("rate", "burst"), [(-1, None), (0.0001, None), (1e6, None), (None, 5), (0, 5), (1, 0)])
def test_limits_that_cannot_be_are_refused(rate: float | None, burst: int | None) -> None:
    tenant = service.create_tenant("Acme")
    with pytest.raises(InvalidRequest):
        service.limit_tenant(tenant, rate=rate, burst=burst)
    with pytest.raises(InvalidRequest):
        service.create_tenant("Other", rate=rate, burst=burst)


@pytest.mark.django_db
def test_limits_travel_with_the_key_and_the_tenant() -> None:
    from synth.snapshot import load

    tenant = service.create_tenant("Acme", rate=5, burst=9)
    key, _ = service.issue_key(tenant, "key", ["speech:write"], rate=1)
    snapshot = load(tenant.id)
    assert snapshot is not None
    assert (snapshot.limit, snapshot.keys[key.lookup].limit) == (Limit(5, 9), Limit(1, 1))
