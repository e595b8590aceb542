"""The buckets in Redis let in what those of one process would, for all processes together, and count what they do."""

import threading
import time
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from synth.cache.asking import Gate, Status
from synth.cache.store import RenditionCache
from synth.keys import Kind, redis_key
from tenants.limits import LocalBuckets, Metered, RateLimited
from tenants.types import Limit, TenantRef
from tests.servers.redis import RedisServer
from tests.synth.cache.asking import VERSION, look, make_cache, today

TENANT = TenantRef(UUID(int=1))
SLOW = 0.001  # a second: nothing comes back while a test runs
SPAN = 1.0
bursts = st.one_of(st.none(), st.integers(1, 6))


@pytest.fixture
def redis(redis_server: RedisServer):
    with redis_server.client() as client:
        yield client


@pytest.fixture
def cache(redis: Redis) -> RenditionCache:
    return make_cache(redis, TENANT)


def admit(cache: RenditionCache, tenant: TenantRef = TENANT, **options) -> Status:
    return cache.admit(tenant, Gate(**{"version": VERSION, "key": "a", **options})).status


def account(redis: Redis, tenant: TenantRef = TENANT) -> dict[str, int]:
    fields = redis.hgetall(redis_key(tenant, Kind.ACCOUNT))
    return {name: int(fields[name.encode()]) for name in ("requests", "hits", "refused")}


def by_the_model(model: LocalBuckets, metered: list[Metered]) -> list[tuple[str, int]] | None:
    try:
        return [(item.name, item.remaining) for item in model.take(metered, now=0)]
    except RateLimited:
        return None


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tenant=bursts, key_a=bursts, key_b=bursts, asked=st.lists(st.sampled_from("ab"), max_size=25))
def test_it_decides_as_the_buckets_of_one_process_do(
    redis: Redis, tenant: int | None, key_a: int | None, key_b: int | None, asked: list[str]
) -> None:
    owner = TenantRef(uuid4())
    cache, model = make_cache(redis, owner), LocalBuckets(processes=1)
    of_tenant, of_key = Limit(SLOW, tenant) if tenant else None, {"a": key_a, "b": key_b}
    for key in asked:
        burst = of_key[key]
        limit = Limit(SLOW, burst) if burst else None
        metered = [Metered("tenant", "t", of_tenant)] if of_tenant else []
        metered += [Metered("key", key, limit)] if limit else []
        found = cache.admit(owner, Gate(version=VERSION, key=key, tenant_limit=of_tenant, key_limit=limit))
        told = by_the_model(model, metered)
        assert found.status is (Status.LIMITED if told is None else Status.ADMITTED)
        if told is not None:
            assert [(item.name, item.remaining) for item in found.allowances] == told
    counted = account(redis, owner)
    assert counted["requests"] + counted["refused"] == len(asked)


def test_processes_share_one_bucket(redis_server: RedisServer, redis: Redis) -> None:
    limit, admitted, lock = Limit(rate=40, burst=7), [], threading.Lock()
    caches = [make_cache(redis_server.client(), TENANT) for _ in range(4)]

    def hammer(cache: RenditionCache) -> None:
        while time.monotonic() < ends_at:
            if admit(cache, tenant_limit=limit) is Status.ADMITTED:
                with lock:
                    admitted.append(time.monotonic())

    started = time.monotonic()
    ends_at = started + SPAN
    threads = [threading.Thread(target=hammer, args=(cache,)) for cache in caches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - started
    assert limit.burst <= len(admitted) <= limit.burst + limit.rate * took
    assert len(admitted) >= limit.rate * SPAN / 2  # what came back was let in


def test_who_waits_as_long_as_told_is_let_in(cache) -> None:
    gate = Gate(version=VERSION, key="a", tenant_limit=Limit(rate=20, burst=1))
    assert cache.admit(TENANT, gate).status is Status.ADMITTED
    refused = cache.admit(TENANT, gate)
    if refused.status is Status.LIMITED:  # a slow machine may be too late
        (left,) = refused.allowances
        assert 0 < left.wait <= 0.05
        time.sleep(left.wait)
    assert cache.admit(TENANT, gate).status is Status.ADMITTED


def test_one_that_was_counted_is_not_counted_again(cache, redis) -> None:
    limit = Limit(SLOW, 1)
    assert look(cache, TENANT, tenant_limit=limit).status is Status.MISS
    assert look(cache, TENANT, tenant_limit=limit).status is Status.LIMITED
    assert look(cache, TENANT, tenant_limit=limit, counted=True).status is Status.MISS
    assert account(redis) == {"requests": 1, "hits": 0, "refused": 1}


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_a_doubt_about_the_version_costs_nothing(cache, redis, version: int) -> None:
    assert look(cache, TENANT, version=version, tenant_limit=Limit(SLOW, 1)).status in {Status.OUTDATED, Status.RELOAD}
    assert look(cache, TENANT, tenant_limit=Limit(SLOW, 1)).status is Status.MISS
    assert account(redis) == {"requests": 1, "hits": 0, "refused": 0}


def test_a_process_that_does_not_believe_redis_costs_nothing(redis) -> None:
    make_cache(redis, TENANT)
    doubting = make_cache(redis)
    assert look(doubting, TENANT, tenant_limit=Limit(SLOW, 1)).status is Status.RELOAD
    assert account(redis)["requests"] == 0


def test_a_lost_account_is_asked_for_and_begun_by_what_is_known(cache, redis) -> None:
    redis.delete(redis_key(TENANT, Kind.ACCOUNT))
    assert look(cache, TENANT).status is Status.UNSEEDED
    cache.seed(TENANT, today(requests=70, hits=50))
    cache.seed(TENANT, today(requests=1, hits=1))  # another process was later
    assert look(cache, TENANT).status is Status.MISS
    assert account(redis) == {"requests": 71, "hits": 50, "refused": 0}


def test_a_new_day_counts_anew_and_forgets_the_buckets_that_are_full(cache, redis) -> None:
    name, full = redis_key(TENANT, Kind.ACCOUNT), Limit(rate=100_000, burst=1)
    admit(cache, key="used no more", key_limit=full)
    admit(cache, key="used up", key_limit=Limit(SLOW, 1))
    redis.hset(name, "day", today().day - 1)
    assert admit(cache, key="other") is Status.ADMITTED
    assert account(redis) == {"requests": 1, "hits": 0, "refused": 0}
    assert int(redis.hget(name, "day")) == today().day
    assert redis.hexists(name, "bucket:used up")
    assert not redis.hexists(name, "bucket:used no more")
    assert admit(cache, key="used up", key_limit=Limit(SLOW, 1)) is Status.LIMITED


def test_a_limit_that_is_lowered_or_a_clock_that_jumped_is_felt_for_one_bucket_only(cache, redis) -> None:
    far = int(time.time() * 1e6) + 10**12
    redis.hset(redis_key(TENANT, Kind.ACCOUNT), "bucket", far)
    limit = Limit(rate=50, burst=2)
    refused = cache.admit(TENANT, Gate(version=VERSION, key="a", tenant_limit=limit))
    assert refused.status is Status.LIMITED
    assert refused.allowances[0].wait <= 2 / 50


def test_what_was_let_in_without_redis_counts_for_all_processes(cache, redis) -> None:
    limit = Limit(rate=0.01, burst=3)
    assert admit(cache, tenant_limit=limit, tenant_owed=2 * limit.step) is Status.ADMITTED
    assert admit(cache, tenant_limit=limit) is Status.LIMITED


def test_it_counts_though_the_one_who_tells_is_refused(cache, redis) -> None:
    limit = Limit(rate=0.01, burst=2)
    assert admit(cache, key_limit=limit, key_owed=10 * limit.step) is Status.LIMITED
    assert admit(cache, key_limit=limit) is Status.LIMITED
