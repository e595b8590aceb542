"""The look-up's script and the drain of usage on a real Cluster, with tenants on different nodes, and one node away."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from synth import wiring
from synth.cache.asking import Status
from synth.cache.usage_stream import UsageStreams
from synth.keys import Kind, redis_key
from synth.topology.address import parse
from synth.topology.cluster import ClusterClient
from tenants.types import Limit, TenantRef
from tests.servers.redis_cluster import RedisClusterServers
from tests.synth.cache.asking import KEY, look, make_cache, sound
from ttsproject import redis_settings

TENANTS = [TenantRef(UUID(int=number)) for number in range(1, 13)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisClusterServers]:
    with RedisClusterServers(tmp_path_factory.mktemp("cluster")) as servers:
        yield servers


@pytest.fixture
def client(cluster: RedisClusterServers, settings) -> Iterator[ClusterClient]:
    pool = redis_settings.Pool(size=4, connect_timeout=0.5, timeout=0.5)
    settings.CACHES = {"default": redis_settings.cache(parse(cluster.url), pool)}
    made = wiring.redis()
    assert isinstance(made, ClusterClient)
    made.flushall()
    yield made
    made.lost = True


def hit_each(client: ClusterClient, hits: int) -> None:
    cache = make_cache(client, *TENANTS)
    for tenant in TENANTS:
        cache.fill(tenant, KEY, sound(), b"mp3")
        found = [look(cache, tenant, tenant_limit=Limit(0.001, hits), request_id=f"req_{n}") for n in range(hits + 1)]
        assert [item.status for item in found] == [Status.HIT] * hits + [Status.LIMITED]


def masters(cluster: RedisClusterServers) -> dict[TenantRef, int]:
    return {tenant: cluster.master_of(redis_key(tenant, Kind.USAGE)).port for tenant in TENANTS}


def test_hits_of_all_tenants_are_limited_and_drained(client, cluster):
    hit_each(client, 3)
    assert len(set(masters(cluster).values())) == 3
    streams = UsageStreams(lambda: client)
    assert set(streams.waiting()) == set(TENANTS)
    for tenant in TENANTS:
        events = streams.read(tenant)
        assert [event.request.request_id for event in events] == ["req_0", "req_1", "req_2"]
        assert streams.taken(tenant, events).count == 0
    assert streams.waiting() == []


def test_a_node_that_is_away_keeps_only_its_own_tenants_waiting(client, cluster):
    hit_each(client, 1)
    registry = cluster.master_of("rf1:usage-tenants")
    away = next(node for node in cluster.nodes if node is not registry)
    theirs = {tenant for tenant, port in masters(cluster).items() if port == away.port}
    away.freeze()
    try:
        waiting = set(UsageStreams(lambda: client).waiting())
    finally:
        away.thaw()
    assert theirs
    assert waiting == set(TENANTS) - theirs
