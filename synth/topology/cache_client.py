"""What django-redis needs to speak to a Redis Cluster, which it does not know; `ttsproject.settings` names both."""

import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from django_redis.client import DefaultClient
from django_redis.pool import ConnectionFactory
from redis.exceptions import ConnectionError as NoConnection

from synth.cache.incarnation import incarnation, note_node
from synth.topology.address import RedisAddress
from synth.topology.cluster import ClusterClient

CONNECT_SECONDS = 1.0


class _Shared:
    """The one client of this process; a forked child makes its own."""

    def __init__(self) -> None:
        self._client: ClusterClient | None = None
        self._process = 0
        self._lock = threading.Lock()

    def get(self, address: RedisAddress, options: Mapping[str, Any]) -> ClusterClient:
        """Raises redis-py's ConnectionError while no node answers, also when another thread is still asking them."""
        if self._process != os.getpid():
            self._client, self._lock, self._process = None, threading.Lock(), os.getpid()
        client = self._client
        if client is not None and not client.lost:
            return client
        if not self._lock.acquire(timeout=CONNECT_SECONDS):
            raise NoConnection("the nodes of the Cluster do not answer")
        try:
            if self._client is None or self._client.lost:
                self._client = ClusterClient(
                    address, layout_changed=incarnation.was_away, redis_connect_func=note_node, **options
                )
            return self._client
        finally:
            self._lock.release()


_shared = _Shared()


class ClusterFactory(ConnectionFactory):
    """Makes django-redis use the shared client, whose pools are its own: one a node."""

    def connect(self, url: str) -> ClusterClient:  # noqa: ARG002 - the address is an option, read by the settings
        return _shared.get(self.options["ADDRESS"], self.options["CLUSTER_KWARGS"])

    def disconnect(self, connection: ClusterClient) -> None:
        connection.disconnect_connection_pools()  # type: ignore[no-untyped-call]


class ClusterCacheClient(DefaultClient):
    """The calls of Django's cache that name many keys, which may lie on many nodes."""

    def get_client(self, write: bool = True, tried: Any = None) -> ClusterClient:  # noqa: ARG002
        """Not kept: a client that was lost is made anew."""
        client: ClusterClient = self.connect()
        return client

    def get_many(self, keys: Iterable[Any], version: int | None = None, client: Any = None) -> dict[Any, Any]:
        made = {self.make_key(key, version=version): key for key in keys}
        if not made:
            return {}
        found = (client or self.get_client(write=False)).mget_nonatomic(list(made))
        values = zip(made.values(), found, strict=True)
        return {key: self.decode(value) for key, value in values if value is not None}
