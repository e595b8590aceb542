"""A revoked key is refused at its next request, also when Redis was away, came back old, or is ahead."""

import pytest

from synth import wiring
from synth.keys import Kind, redis_key
from synth.service import sweep
from tenants import service
from tests.finished import Finished
from tests.servers.redis import RedisServer
from tests.world import World

pytestmark = pytest.mark.any_database


@pytest.fixture
def warm(ask, finished: Finished) -> None:
    assert [ask().json()["cache"] for _ in range(2)] == ["restored", "hit"]


@pytest.fixture
def version_key(world: World) -> str:
    return redis_key(world.owner.ref, Kind.VERSION)


ASKS = {
    "a hit": {},
    "a refresh": {"cache": "refresh"},
    "a bypass": {"cache": "bypass"},
    "an invalid body": {"speed": "fast"},
    "no JSON": {"content": "{"},
    "another voice": {"voice": "nobody"},
}


@pytest.mark.parametrize("body", ASKS.values(), ids=list(ASKS))
def test_it_is_refused_whatever_is_asked(ask, warm, world: World, body: dict):
    service.revoke_key(world.owner.key)
    assert ask(**body).status_code == 401


@pytest.mark.parametrize("body", ASKS.values(), ids=list(ASKS))
def test_a_suspended_tenant_is_refused_whatever_is_asked(ask, warm, world: World, body: dict):
    service.suspend_tenant(world.owner.tenant)
    assert ask(**body).status_code == 403


@pytest.mark.parametrize("body", ASKS.values(), ids=list(ASKS))
def test_it_is_refused_while_redis_is_away(ask, warm, world: World, redis_server: RedisServer, body: dict):
    redis_server.stop()
    service.revoke_key(world.owner.key)
    assert ask(**body).status_code == 401


@pytest.mark.parametrize("body", ASKS.values(), ids=list(ASKS))
def test_it_is_refused_by_a_redis_that_missed_it(ask, warm, world: World, redis_server: RedisServer, body: dict):
    """Redis keeps the old version over its restart, and this process has not seen it away."""
    redis_server.stop()
    publish_nothing(lambda: service.revoke_key(world.owner.key))
    redis_server.start()
    assert ask(**body).status_code == 401


def publish_nothing(change) -> None:
    """Make a change in another process, as it were, whose word to Redis was lost."""
    from tenants.versions import nowhere, set_publisher

    before = set_publisher(nowhere)
    try:
        change()
    finally:
        set_publisher(before)


def test_the_sweeper_tells_what_redis_missed(ask, warm, world: World):
    publish_nothing(lambda: service.revoke_key(world.owner.key))
    sweep()
    assert ask().status_code == 401


def test_it_is_told_although_the_breaker_of_this_process_is_open(ask, warm, world: World, version_key, redis_server):
    """The other processes reach Redis, and go by what it says."""
    cache = wiring.rendition_cache()
    cache._breaker.failed(ConnectionError("a moment ago"))
    service.revoke_key(world.owner.key)
    world.owner.tenant.refresh_from_db()
    with redis_server.client() as client:
        assert int(client.get(version_key)) == world.owner.tenant.snapshot_version


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 200), ({"cache": "refresh"}, 202), ({"speed": "fast"}, 422), ({"content": "{"}, 400)],
)
@pytest.mark.parametrize("known", [None, 0, 1_000_000])
def test_a_version_of_redis_that_is_lost_old_or_ahead_stops_nobody(
    ask, warm, version_key, redis_server, known, body, status
):
    """Lost with its last second, or ahead of a database that was restored from a backup."""
    with redis_server.client() as client:
        client.delete(version_key)
        if known is not None:
            client.set(version_key, known)
    assert ask(**body).status_code == status


def test_a_new_key_works_at_once(ask, warm, world: World):
    from tenants.scopes import ALL
    from tests.synth.cache.conftest import Speaker

    _, token = service.issue_key(world.owner.tenant, "second", ALL)
    assert Speaker({"Authorization": f"Bearer {token}"})().json()["cache"] in {"hit", "restored"}


def test_after_redis_came_back_a_hit_is_a_hit_again(ask, warm, redis_server, sent, django_assert_num_queries):
    redis_server.restart()
    assert ask().status_code == 200
    before = len(sent)
    with django_assert_num_queries(0):
        assert ask().json()["cache"] == "hit"
    assert len(sent) == before + 1
