"""A service that Sentinels watch, as a Redis of one address whose master may change; the cache's settings name it."""

from typing import Any

from django_redis.pool import ConnectionFactory
from redis import BlockingConnectionPool
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool, SentinelManagedSSLConnection

from synth.topology.address import RedisAddress


class BlockingSentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """redis-py's own refuses at once when all connections are in use, which would look like a Redis that is away."""

    # Every connection goes back: one that is dropped would stay in the pool's list for ever.
    owns_connection = BlockingConnectionPool.owns_connection

    def release(self, connection: Any) -> None:
        """A connection to what was the master before asks the Sentinels anew at its next use."""
        if self.master_address != (connection.host, connection.port):
            connection.disconnect()
        super().release(connection)  # type: ignore[no-untyped-call]


class SentinelFactory(ConnectionFactory):
    """Gives django-redis the master's bounded pool. Its own factory takes no pool that waits."""

    def get_connection_pool(self, params: dict[str, Any]) -> BlockingSentinelPool:
        address: RedisAddress = self.options["ADDRESS"]
        timeouts = {name: value for name, value in params.items() if name.startswith("socket_")}
        # A Sentinel that is away is passed over; redis-py's default would ask it four times, seconds apart.
        once = Retry(NoBackoff(), 0)
        sentinels = Sentinel(  # type: ignore[no-untyped-call]
            address.nodes,
            sentinel_kwargs={**timeouts, **address.sentinel_credentials, "retry": once, "ssl": address.tls},
        )
        tls = {"connection_class": SentinelManagedSSLConnection} if address.tls else {}
        return BlockingSentinelPool(  # type: ignore[no-untyped-call]
            address.service,
            sentinels,
            db=address.db,
            **address.credentials,
            **timeouts,
            **tls,
            **self.pool_cls_kwargs,
        )
