"""Settings of Django's cache and of Celery for the three topologies of Redis; `settings.py` alone uses them."""

import ssl
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.retry import Retry

from synth.cache.incarnation import note_connection
from synth.topology.address import RedisAddress, Topology, parse

# What rings is lost without harm: rows and sweeper keep the work. A request rings too, and must not wait.
BELL_OPTIONS: dict[str, Any] = {
    # A bell carries no work, so one that is lost costs nothing. To note which are in hand costs round trips, and
    # kombu 5.7 ends the worker that has one in hand when the broker dies.
    "ack_emulation": False,
    "socket_timeout": 1,
    "socket_connect_timeout": 1,
    "max_retries": 0,
    "queue_order_strategy": "round_robin",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A bounded pool of connections; times are seconds."""

    size: int
    connect_timeout: float
    timeout: float

    @property
    def socket_options(self) -> dict[str, Any]:
        return {"socket_connect_timeout": self.connect_timeout, "socket_timeout": self.timeout}

    @property
    def pool_options(self) -> dict[str, Any]:
        return {"max_connections": self.size, "timeout": self.timeout}


def address(name: str, url: str) -> RedisAddress:
    """What the setting `name` says."""
    try:
        return parse(url)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} {error}.") from None  # the value may hold a password


def cache(redis: RedisAddress, pool: Pool) -> dict[str, Any]:
    """An entry of CACHES."""
    options: dict[str, Any] = {
        "CONNECTION_POOL_KWARGS": {**pool.pool_options, "redis_connect_func": note_connection},
        "SOCKET_CONNECT_TIMEOUT": pool.connect_timeout,
        "SOCKET_TIMEOUT": pool.timeout,
    }
    location = redis.url
    if redis.topology is Topology.STANDALONE:
        options["CONNECTION_POOL_CLASS"] = "redis.BlockingConnectionPool"
    elif redis.topology is Topology.SENTINEL:
        location = f"sentinel://{redis.service}/{redis.db}"
        options["CONNECTION_FACTORY"] = "synth.topology.sentinel.SentinelFactory"
        options["ADDRESS"] = redis
    else:
        location = f"cluster://{redis.nodes[0][0]}"
        options = {
            "CLIENT_CLASS": "synth.topology.cache_client.ClusterCacheClient",
            "CONNECTION_FACTORY": "synth.topology.cache_client.ClusterFactory",
            "ADDRESS": redis,
            "CLUSTER_KWARGS": {**pool.pool_options, **pool.socket_options},
        }
    return {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": location, "OPTIONS": options}


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """What Celery takes: a URL, transport options, and TLS for Sentinels (elsewhere the URL says it)."""

    url: str
    options: dict[str, Any]
    use_ssl: dict[str, Any] | None = None


def broker(name: str, url: str, redis: RedisAddress) -> Broker:
    """The broker that the setting `name` says, by default the Redis of the cache."""
    if not url and redis.topology is Topology.CLUSTER:
        raise ImproperlyConfigured(
            f"{name} is missing. REDIS_URL names a Redis Cluster, which Celery cannot use as its broker: set {name} to "
            "another Redis, standalone or with Sentinels, or to RabbitMQ (amqp://)."
        )
    if url.startswith("sentinel://"):
        raise ImproperlyConfigured(f"{name} names Sentinels as redis+sentinel://host:26379/<service>/<db>.")
    if url and not url.startswith("redis"):
        return Broker(url=url, options={})
    chosen = address(name, url) if url else redis
    if chosen.topology is Topology.CLUSTER:
        raise ImproperlyConfigured(f"{name} names a Redis Cluster, which Celery cannot use as its broker.")
    if chosen.topology is Topology.STANDALONE:
        return Broker(url=chosen.url, options=BELL_OPTIONS)
    # Without `retry` a Sentinel that is away is asked four times, seconds apart, while a request waits.
    asked_once = {"socket_timeout": 1, "socket_connect_timeout": 1, "retry": Retry(NoBackoff(), 0)}
    return Broker(
        url=chosen.kombu_url,
        options={
            **BELL_OPTIONS,
            "master_name": chosen.service,
            "sentinel_kwargs": {**asked_once, **chosen.sentinel_credentials},
        },
        use_ssl={"ssl_cert_reqs": ssl.CERT_REQUIRED} if chosen.tls else None,
    )
