"""The whole of Refrain on a Redis Cluster, and behind Sentinels: it speaks, it hits, and a failover stops nobody."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest

from synth.keys import Kind, redis_key
from tenants.types import TenantRef
from tests.conftest import StackMaker
from tests.faults.asking import Answer, number, post, rows
from tests.servers.redis_cluster import RedisClusterServers
from tests.servers.redis_sentinel import SentinelServers
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.any_database]
TEXT = "What was said once is not made again."


@pytest.fixture
def cluster(tmp_path) -> Iterator[RedisClusterServers]:
    """Three masters, the first of which has a replica."""
    with RedisClusterServers(tmp_path / "cluster", replicas=1) as servers:
        yield servers


@pytest.fixture
def sentinels(tmp_path) -> Iterator[SentinelServers]:
    with SentinelServers(tmp_path / "sentinels") as servers:
        yield servers


def running(make_stack: StackMaker, **env: str) -> Stack:
    stack = make_stack(env=env)
    stack.api()
    stack.engine_worker()
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    return stack


def say(stack: Stack, text: str = TEXT) -> Answer:
    with stack.client() as client:
        return post(client, {"text": text, "wait": 60})


def is_hit(stack: Stack) -> bool:
    answer = say(stack)
    assert answer.status == 200, answer
    return answer.body["cache"] == "hit"


def ask_until_hit(stack: Stack) -> None:
    """Every request on the way is answered, too."""
    stack.wait_until(lambda: is_hit(stack), seconds=60, what="a hit")


def version_key(stack: Stack) -> str:
    """A key of the owner, in the slot of all its other keys."""
    tenant_id = rows(stack, "SELECT tenant_id FROM synth_job")[0][0]
    return redis_key(TenantRef(UUID(str(tenant_id))), Kind.VERSION)


def test_a_cluster_hits_and_survives_a_moved_slot(make_stack: StackMaker, cluster: RedisClusterServers) -> None:
    stack = running(make_stack, REDIS_URL=cluster.url)
    assert say(stack).status == 200
    ask_until_hit(stack)
    hits = "SELECT count(*) FROM tenants_usage WHERE outcome = 'hit'"
    stack.wait_until(lambda: number(stack, hits), seconds=60, what="usage of a hit")
    key = version_key(stack)
    owner = cluster.master_of(key)
    cluster.move(key, next(node for node in cluster.nodes[:3] if node is not owner))
    ask_until_hit(stack)
    assert len(stack.runs()) == 1


def test_a_cluster_survives_the_death_of_a_master(make_stack: StackMaker, cluster: RedisClusterServers) -> None:
    stack = running(make_stack, REDIS_URL=cluster.url)
    assert say(stack).status == 200
    ask_until_hit(stack)
    key, doomed = version_key(stack), cluster.nodes[0]
    if cluster.master_of(key) is not doomed:
        cluster.move(key, doomed)
        ask_until_hit(stack)
    doomed.kill()
    assert say(stack).status == 200
    assert say(stack, "Something else, meanwhile.").status == 200
    ask_until_hit(stack)
    assert cluster.master_of(key) is cluster.nodes[3]
    assert len(stack.runs()) == 2


def test_sentinels_promote_and_requests_go_on(make_stack: StackMaker, sentinels: SentinelServers) -> None:
    """Cache and broker are the same service."""
    stack = running(make_stack, REDIS_URL=sentinels.url, CELERY_BROKER_URL=sentinels.url)
    assert say(stack).status == 200
    ask_until_hit(stack)
    sentinels.master.kill()
    assert say(stack).status == 200
    assert say(stack, "Something else, meanwhile.").status == 200
    sentinels.wait_for_failover()
    ask_until_hit(stack)
    assert say(stack, "Something else, afterwards.").status == 200
    assert len(stack.runs()) == 3
