"""A real Redis with a replica and Sentinels that watch both, for the tests of topologies."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any, Self

import redis

from tests.servers.ports import free_port
from tests.servers.redis import RedisServer
from ttsproject.launch.leash import leashed
from ttsproject.launch.valkey import get_binary_path

SERVICE = "refrain"
READY_SECONDS = 60.0
DOWN_AFTER_MS = 1000


class SentinelServers:
    """One master and one replica; `sentinels` that agree by majority on a new master."""

    def __init__(self, directory: Path, *, sentinels: int = 3) -> None:
        self._directory = directory
        self.master = RedisServer(directory / "master")
        self.replica = RedisServer(directory / "replica", settings={"replicaof": f"127.0.0.1 {self.master.port}"})
        self.ports = [free_port() for _ in range(sentinels)]
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"redis+sentinel://{','.join(f'127.0.0.1:{port}' for port in self.ports)}/{SERVICE}/0"

    def start(self) -> None:
        """Start everything, and wait until the Sentinels know each other and the replica."""
        self.master.start()
        self.replica.start()
        for port in self.ports:
            self._start_sentinel(port)
        for port in self.ports:
            self.wait_until(lambda port=port: self._knows_all(port))

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait(10)
        self.master.kill()
        self.replica.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def master_port(self) -> int:
        """As the first Sentinel says."""
        return int(self._told(self.ports[0])["port"])

    def wait_for_failover(self) -> None:
        self.wait_until(lambda: self.master_port() == self.replica.port)

    def wait_until(self, predicate: Any) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not predicate():
            if time.monotonic() > deadline:
                raise AssertionError(f"the Sentinels did not settle within {READY_SECONDS} s")
            time.sleep(0.05)

    def _start_sentinel(self, port: int) -> None:
        home = self._directory / f"sentinel{port}"
        home.mkdir(parents=True)
        config = home / "sentinel.conf"
        quorum = len(self.ports) // 2 + 1
        config.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {home}\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {self.master.port} {quorum}\n"
            f"sentinel down-after-milliseconds {SERVICE} {DOWN_AFTER_MS}\n"
            f"sentinel failover-timeout {SERVICE} 5000\n"
        )
        with (home / "sentinel.log").open("ab") as log:
            command = leashed([str(get_binary_path()), str(config), "--sentinel"])
            self._processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def _knows_all(self, port: int) -> bool:
        try:
            told = self._told(port)
        except redis.RedisError:
            return False
        return (told["num-slaves"], told["num-other-sentinels"]) == ("1", str(len(self.ports) - 1))

    def _told(self, port: int) -> dict[str, str]:
        with redis.Redis(port=port, socket_timeout=5, decode_responses=True) as client:
            client.response_callbacks.clear()
            told = client.execute_command("SENTINEL", "MASTER", SERVICE)
        return told if isinstance(told, dict) else dict(zip(told[::2], told[1::2], strict=True))
