"""A real Redis-compatible server (Valkey, from the wheel) that tests may kill, freeze and start again."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Self

import redis

from tests.servers.ports import free_port
from ttsproject.launch import valkey
from ttsproject.launch.leash import leashed

START_SECONDS = 15.0
STOP_SECONDS = 10.0


class RedisServer:
    """One server; port and data stay the same over kill(), start() and restart().

    `settings` are Valkey's own, by name; by default those of `make run`.
    """

    def __init__(self, directory: Path, *, settings: dict[str, str] | None = None) -> None:
        self._directory = directory
        self._settings = {**valkey.CACHE_AND_BROKER, **(settings or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def client(self) -> redis.Redis:
        """A new client; the caller closes it."""
        return redis.Redis.from_url(self.url, socket_timeout=5, socket_connect_timeout=2)

    def start(self) -> None:
        """Start, and wait until it answers."""
        if self.running:
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        command = leashed(valkey.command(self._directory, self.port, self._settings))
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._wait_until_it_answers()

    def stop(self) -> None:
        """In good order: everything acknowledged is kept."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """As a crash would: no time to tidy up."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def restart_empty(self) -> None:
        """Come back as a new machine would: same address, no data."""
        self.kill()
        for path in sorted(self._directory.rglob("*"), reverse=True):
            if path != self._log:
                path.rmdir() if path.is_dir() else path.unlink()
        self.start()

    def freeze(self) -> None:
        """Still connected, but answering nothing, until thaw()."""
        self._running_process().send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._running_process().send_signal(signal.SIGCONT)

    def flush(self) -> None:
        """Forget all data and loaded scripts."""
        with self.client() as client:
            client.flushall()
            client.script_flush()
            client.function_flush()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def _log(self) -> Path:
        return self._directory / "valkey.log"

    def _running_process(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the Redis server is not running")
        return self._process

    def _end(self, with_signal: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGCONT)
        process.send_signal(with_signal)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_SECONDS)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        with self.client() as client:
            while not _answers(client):
                if not self.running or time.monotonic() > deadline:
                    self.kill()
                    raise RuntimeError(f"Redis did not start:\n{self._log.read_text()[-2000:]}")
                time.sleep(0.01)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except (redis.ConnectionError, redis.TimeoutError):  # BusyLoadingError is a ConnectionError too
        return False
