"""A Redis that is gone or hangs costs its short time-out once; then the breaker spares requests, and tries again."""

import time
from uuid import UUID

import pytest
from redis import BlockingConnectionPool, Redis

from synth.breaker import Breaker
from synth.cache.asking import Status
from synth.cache.incarnation import Incarnation, incarnation, note_connection
from synth.cache.store import RenditionCache
from tenants.types import TenantRef
from tests.finished import Finished
from tests.servers.redis import RedisServer
from tests.servers.tcp_proxy import TcpProxy
from tests.synth.cache import asking

pytestmark = pytest.mark.any_database
TENANT = TenantRef(UUID(int=1))
BOUND = 20.0  # seconds; far above every time-out together, far below a hang


@pytest.fixture
def proxy(redis_server: RedisServer):
    with TcpProxy(redis_server.port) as proxy:
        yield proxy


@pytest.fixture
def cache(proxy: TcpProxy) -> RenditionCache:
    pool = BlockingConnectionPool(
        port=proxy.port, max_connections=2, timeout=0.2, socket_timeout=0.2, socket_connect_timeout=0.2
    )
    made = RenditionCache(lambda: Redis(connection_pool=pool), audio_limit=1000, expiry=600, incarnation=Incarnation())
    made._breaker = Breaker("a cache in trouble", pause=0.2)
    made.confirm(TENANT, 1, incarnation=made.incarnation)
    made.seed(TENANT, asking.today())
    return made


def look(cache: RenditionCache) -> Status:
    return asking.look(cache, TENANT, version=1).status


@pytest.mark.parametrize("trouble", ["hang", "reset", "stop"])
def test_it_is_away_and_tried_only_now_and_then(cache, proxy: TcpProxy, trouble: str):
    assert look(cache) is Status.MISS
    getattr(proxy, trouble)()
    proxy.drop_connections()
    tries = proxy.accepted
    started = time.monotonic()
    answers = {look(cache) for _ in range(200)}
    assert answers == {Status.AWAY}
    assert time.monotonic() - started < BOUND
    assert proxy.accepted - tries < 100


def test_it_is_believed_again_only_after_the_database_was_asked(cache, proxy: TcpProxy):
    proxy.reset()
    proxy.drop_connections()
    assert look(cache) is Status.AWAY
    proxy.pass_through()
    deadline = time.monotonic() + BOUND
    while (status := look(cache)) is Status.AWAY and time.monotonic() < deadline:
        pass
    assert status is Status.RELOAD
    cache.confirm(TENANT, 1, incarnation=cache.incarnation)
    assert look(cache) is Status.MISS


def test_what_was_confirmed_before_it_went_away_does_not_count(cache, proxy: TcpProxy):
    before = cache.incarnation
    cache._incarnation.was_away()
    cache.confirm(TENANT, 1, incarnation=before)
    assert look(cache) is Status.RELOAD


@pytest.mark.parametrize("trouble", ["freeze", "stop"])
@pytest.mark.parametrize("delivery", ["url", "inline", "binary"])
def test_requests_are_answered_from_the_catalogue(ask, finished: Finished, redis_server, trouble: str, delivery: str):
    ask()
    getattr(redis_server, trouble)()
    try:
        started = time.monotonic()
        answers = [ask(delivery=delivery) for _ in range(5)]
        assert {answer.status_code for answer in answers} == {200}
        assert time.monotonic() - started < BOUND
    finally:
        redis_server.kill()


def test_a_second_connection_to_the_same_redis_is_no_other_run(redis_server: RedisServer):
    def connect() -> int:
        with Redis(port=redis_server.port, redis_connect_func=note_connection) as client:
            client.ping()
        return incarnation.number

    assert connect() == (number := connect())
    redis_server.restart()
    assert connect() == number + 1


@pytest.mark.parametrize(("told", "grown"), [(["a", "a"], 1), (["a", "b", "a"], 3), (["", ""], 2)])
def test_a_run_is_told_by_its_name(told: list[str], grown: int):
    counted = Incarnation()
    for run_id in told:
        counted.connected_to(run_id)
    assert counted.number == grown


def test_an_open_breaker_has_it_tried_beside_the_requests():
    answers = [OSError("gone"), OSError("gone"), None]

    def probe() -> None:
        if answer := answers.pop(0):
            raise answer

    breaker = Breaker("a part", pause=0.01, probe=probe)
    breaker.failed(OSError("gone"))
    breaker.succeeded()  # a call that began before
    assert not breaker.allows()
    deadline = time.monotonic() + BOUND
    while not breaker.allows():
        assert time.monotonic() < deadline
    assert answers == []


def test_an_open_breaker_lets_one_through_at_a_time():
    breaker = Breaker("a part", pause=3600)
    assert breaker.allows()
    breaker.failed(OSError("gone"))
    assert not breaker.allows()
    breaker.succeeded()
    assert breaker.allows()
    breaker._pause = 0.0
    breaker.failed(OSError("gone"))
    assert breaker.allows()
    breaker._pause = 3600
    assert breaker.allows()
    assert not breaker.allows()
