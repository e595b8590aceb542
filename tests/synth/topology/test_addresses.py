"""What a URL of Redis says, what the settings make of it, and the one sentence that a bad one stops the start with."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from synth.topology.address import Topology, parse
from ttsproject import redis_settings

POOL = redis_settings.Pool(size=4, connect_timeout=0.5, timeout=0.5)
SENTINELS = "redis+sentinel://me:s%2Fcret@one:26380,[::1]/refrain/3?sentinel_password=theirs"


def test_one_server():
    address = parse("rediss://me:s%2Fcret@cache.example:6380/2")
    assert (address.topology, address.nodes, address.db) == (Topology.STANDALONE, (("cache.example", 6380),), 2)
    assert (address.tls, address.credentials) == (True, {"username": "me", "password": "s/cret"})


def test_sentinels():
    address = parse(SENTINELS)
    assert (address.topology, address.nodes) == (Topology.SENTINEL, (("one", 26380), ("::1", 26379)))
    assert (address.service, address.db, address.sentinel_credentials) == ("refrain", 3, {"password": "theirs"})


def test_a_cluster():
    address = parse("redis+cluster://:secret@one:7000,two:7001")
    assert (address.topology, address.nodes) == (Topology.CLUSTER, (("one", 7000), ("two", 7001)))
    assert address.credentials == {"password": "secret"}


def test_no_password_is_shown():
    address = parse(SENTINELS)
    assert "cret" not in repr(address)
    assert "theirs" not in repr(address)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "starts with 'nothing'"),
        ("http://cache", "starts with 'http'"),
        ("redis+magic://cache", "starts with 'redis\\+magic'"),
        ("redis://", "holds no host:port"),
        ("redis://cache:seven", "holds no host:port"),
        ("redis+cluster://one:7000,,two:7001", "holds no host:port"),
        ("redis://one,two", "names several servers"),
        ("redis://cache/zero", "something else than the number of a database"),
        ("redis+sentinel://one:26379", "names no service"),
        ("redis+sentinel://one/refrain/x", "something else than the number"),
        ("redis+sentinel://one/refrain?master=x", "has the option master"),
        ("redis+cluster://one/1", "names database 1; a Cluster has number 0 alone"),
        ("redis://:se/cret@cache:6379/0", "in a password write"),
        ("redis://me:se/cret@cache:6379/0", "in a password write"),
    ],
)
def test_a_bad_one_stops_the_start_with_a_sentence(url, sentence):
    with pytest.raises(ImproperlyConfigured, match=f"^REDIS_URL .*{sentence}") as told:
        redis_settings.address("REDIS_URL", url)
    assert "cret" not in str(told.value)


def test_celery_shares_one_server():
    broker = redis_settings.broker("CELERY_BROKER_URL", "", parse("redis://cache/1"))
    assert broker.url == "redis://cache/1"
    assert broker.options["socket_timeout"] == 1


def test_celery_asks_the_same_sentinels():
    broker = redis_settings.broker("CELERY_BROKER_URL", "", parse(SENTINELS))
    assert broker.url == "sentinel://me:s%2Fcret@one:26380/3;sentinel://me:s%2Fcret@[::1]:26379/3"
    assert (broker.options["master_name"], broker.options["sentinel_kwargs"]["password"]) == ("refrain", "theirs")


def test_celery_takes_a_broker_of_its_own():
    broker = redis_settings.broker("CELERY_BROKER_URL", "amqp://rabbit", parse("redis+cluster://one"))
    assert (broker.url, broker.options) == ("amqp://rabbit", {})


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "is missing. REDIS_URL names a Redis Cluster"),
        ("redis+cluster://one", "names a Redis Cluster, which Celery cannot use"),
        ("sentinel://one:26379", "names Sentinels as redis\\+sentinel://"),
        ("redis+sentinel://one:26379", "names no service"),
    ],
)
def test_a_broker_that_cannot_work_stops_the_start(url, sentence):
    with pytest.raises(ImproperlyConfigured, match=f"^CELERY_BROKER_URL {sentence}"):
        redis_settings.broker("CELERY_BROKER_URL", url, parse("redis+cluster://one"))


@pytest.mark.parametrize("url", ["redis://cache/1", SENTINELS, "redis+cluster://one,two"])
def test_every_pool_is_bounded_and_every_wait_is_short(url):
    options = redis_settings.cache(parse(url), POOL)["OPTIONS"]
    pool = options.get("CLUSTER_KWARGS") or {
        **options["CONNECTION_POOL_KWARGS"],
        "socket_timeout": options["SOCKET_TIMEOUT"],
        "socket_connect_timeout": options["SOCKET_CONNECT_TIMEOUT"],
    }
    bounds = ("max_connections", "timeout", "socket_timeout", "socket_connect_timeout")
    assert [pool[name] for name in bounds] == [4, 0.5, 0.5, 0.5]
