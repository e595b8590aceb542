"""Our client of a Redis Cluster: pipelines of scripts over all nodes, nodes that hang or are gone, Django's cache."""

from collections.abc import Iterator

import pytest
from django.core.cache import caches
from redis import ConnectionError as RedisConnectionError
from redis import RedisError

from synth import wiring
from synth.cache.incarnation import incarnation
from synth.topology.address import parse
from synth.topology.cluster import ClusterClient
from tests.servers.redis_cluster import RedisClusterServers
from ttsproject import redis_settings

SET = "redis.call('SET', KEYS[1], ARGV[1]) return ARGV[1]"
NAMES = [f"name{number}" for number in range(12)]  # on all three masters


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisClusterServers]:
    with RedisClusterServers(tmp_path_factory.mktemp("cluster")) as servers:
        yield servers


@pytest.fixture
def client(cluster: RedisClusterServers, settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterClient]:
    """As the settings make it."""
    pool = redis_settings.Pool(size=4, connect_timeout=0.5, timeout=0.5)
    settings.CACHES = {"default": redis_settings.cache(parse(cluster.url), pool)}
    made = wiring.redis()
    assert isinstance(made, ClusterClient)
    made.flushall()
    yield made
    made.lost = True  # the next test has a client of its own


def everything(client: ClusterClient) -> list[bytes | None]:
    return [client.get(name) for name in NAMES]


def set_all(client: ClusterClient, value: str) -> list[object]:
    script, pipeline = client.register_script(SET), client.pipeline(transaction=False)
    for name in NAMES:
        script(keys=[name], args=[value], client=pipeline)
    return pipeline.execute(raise_on_error=False)


def test_a_pipeline_of_scripts_goes_over_all_nodes(client, cluster):
    assert len({cluster.master_of(name).port for name in NAMES}) == 3
    assert set_all(client, "one") == everything(client) == [b"one"] * len(NAMES)


def test_nodes_that_have_lost_the_script_are_sent_it_again(client, cluster):
    set_all(client, "one")
    for node in cluster.nodes[:2]:
        with node.client() as direct:
            direct.script_flush()
    assert set_all(client, "two") == everything(client) == [b"two"] * len(NAMES)


def test_a_node_that_is_away_costs_the_others_nothing(client, cluster):
    set_all(client, "one")
    away = cluster.nodes[0]
    theirs = [name for name in NAMES if cluster.master_of(name) is away]
    away.freeze()
    try:
        results = set_all(client, "two")
    finally:
        away.thaw()
    assert theirs
    for name, result in zip(NAMES, results, strict=True):
        assert isinstance(result, RedisError) if name in theirs else result == b"two"


def test_errors_of_clusters_are_errors_of_redis(client):
    with pytest.raises(RedisConnectionError):
        client.execute_command("MGET", *NAMES)


def test_a_moved_slot_counts_as_another_run(client, cluster):
    set_all(client, "one")
    before = incarnation.number
    source = cluster.master_of(NAMES[0])
    cluster.move(NAMES[0], next(node for node in cluster.nodes if node is not source))
    assert client.get(NAMES[0]) == b"one"
    assert incarnation.number > before


def test_a_node_that_came_back_counts_as_another_run(client, cluster):
    set_all(client, "one")
    before = incarnation.number
    cluster.master_of(NAMES[1]).restart()
    cluster.wait_until(lambda: answers(client, NAMES[1]))
    assert incarnation.number > before


def answers(client: ClusterClient, name: str) -> bool:
    try:
        return client.get(name) == b"one"
    except RedisError:
        return False


def test_djangos_cache_takes_many_keys_of_many_nodes(client):
    cache = caches["default"]
    values = {name: {"of": name} for name in NAMES}
    cache.set_many(values)
    assert cache.get_many([*NAMES, "absent"]) == values
    assert cache.incr_version(NAMES[0]) == 2
    assert cache.add(NAMES[0], 1)
    assert cache.delete_many(NAMES[:3]) == 3
    assert cache.get(NAMES[3]) == values[NAMES[3]]
    cache.clear()
    assert cache.get_many(NAMES) == {}
