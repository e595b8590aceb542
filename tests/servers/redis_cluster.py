"""A real Redis Cluster, for the tests of topologies: masters may be killed, and slots moved between them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Self

import redis

from tests.servers.ports import free_port
from tests.servers.redis import RedisServer

SLOTS = 16384
READY_SECONDS = 60.0
CLUSTER = {"cluster-enabled": "yes", "cluster-node-timeout": "2000", "cluster-require-full-coverage": "no"}


class RedisClusterServers:
    """`masters` masters that share all slots; `replicas` more, one for each of the first masters."""

    def __init__(self, directory: Path, *, masters: int = 3, replicas: int = 0) -> None:
        self._bus = [free_port() for _ in range(masters + replicas)]
        self.nodes = [
            RedisServer(directory / f"node{at}", settings={**CLUSTER, "cluster-port": str(port)})
            for at, port in enumerate(self._bus)
        ]
        self._masters = masters

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def start(self) -> None:
        """Start, divide the slots, and wait until every node knows all others and the slots."""
        for node in self.nodes:
            node.start()
        for node, bus in zip(self.nodes[1:], self._bus[1:], strict=True):
            ask(self.nodes[0], "CLUSTER", "MEET", "127.0.0.1", str(node.port), str(bus))
        bounds = [SLOTS * at // self._masters for at in range(self._masters + 1)]
        for at in range(self._masters):
            ask(self.nodes[at], "CLUSTER", "ADDSLOTSRANGE", str(bounds[at]), str(bounds[at + 1] - 1))
        self.wait_until(lambda: all(info(node)["cluster_known_nodes"] == str(len(self.nodes)) for node in self.nodes))
        for at, replica in enumerate(self.nodes[self._masters :]):
            ask(replica, "CLUSTER", "REPLICATE", self.id_of(self.nodes[at]))
        self.wait_until(lambda: all(self._settled(node) for node in self.nodes))

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def id_of(self, node: RedisServer) -> str:
        return str(ask(node, "CLUSTER", "MYID"))

    def master_of(self, key: str) -> RedisServer:
        """The node that has this key's slot, as the living nodes say."""
        slot = int(ask(self._living, "CLUSTER", "KEYSLOT", key))
        port = next(part[2][1] for part in ask(self._living, "CLUSTER", "SLOTS") if part[0] <= slot <= part[1])
        return next(node for node in self.nodes if node.port == port)

    def move(self, key: str, target: RedisServer) -> None:
        """Give the slot of this key, with all that is in it, to another master."""
        source, slot = self.master_of(key), str(ask(self._living, "CLUSTER", "KEYSLOT", key))
        source_id, target_id = self.id_of(source), self.id_of(target)
        ask(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", source_id)
        ask(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
        while keys := ask(source, "CLUSTER", "GETKEYSINSLOT", slot, "100"):
            ask(source, "MIGRATE", "127.0.0.1", str(target.port), "", "0", "5000", "KEYS", *keys)
        for node in (target, source):  # the others hear of it from these
            ask(node, "CLUSTER", "SETSLOT", slot, "NODE", target_id)

    def wait_until(self, predicate: Any, *, seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not predicate():
            if time.monotonic() > deadline:
                raise AssertionError(f"the servers did not settle within {seconds} s")
            time.sleep(0.05)

    @property
    def _living(self) -> RedisServer:
        return next(node for node in self.nodes if node.running)

    def _settled(self, node: RedisServer) -> bool:
        told = info(node)
        return told["cluster_state"] == "ok" and told["cluster_slots_ok"] == str(SLOTS) and self._replicates(node)

    def _replicates(self, node: RedisServer) -> bool:
        with node.client() as client:
            told: dict[str, Any] = client.info("replication")
        is_replica = self.nodes.index(node) >= self._masters
        return told["role"] == ("slave" if is_replica else "master") and told.get("master_link_status", "up") == "up"


def ask(node: RedisServer, *command: str | bytes) -> Any:
    """The raw answer of one node, as text where it is text."""
    with redis.Redis(port=node.port, socket_timeout=10, decode_responses=True) as client:
        client.response_callbacks.clear()
        return client.execute_command(*command)


def info(node: RedisServer) -> dict[str, str]:
    return dict(line.split(":", 1) for line in ask(node, "CLUSTER", "INFO").split())
