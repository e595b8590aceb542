"""A whole Refrain of real processes (API, workers, beat, Redis, database) for the tests of flows and of faults."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import httpx

from tests.engines import counting
from tests.servers.databases import Seeded
from tests.servers.ports import free_port
from tests.servers.redis import RedisServer
from ttsproject.launch import services
from ttsproject.launch.guard import Guard
from ttsproject.launch.leash import leashed

ROOT = Path(__file__).resolve().parents[1]
READY_SECONDS = 60.0
STOP_SECONDS = 10.0
TAIL_LINES = 60
API_THREADS = 64
ENGINES = ("counting",)
# Nobody's certificates are looked at: to read those of the machine takes 40 ms of CPU for each client.
NO_TLS = False

Value = TypeVar("Value")


@dataclass
class Child:
    """One process of a stack, leader of a process group of its own. After Stack.revive() it is another one."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    start: Callable[[], subprocess.Popen[bytes]]
    port: int | None = None

    @property
    def kind(self) -> str:
        """`02-engine0` is an engine worker."""
        return self.name.partition("-")[2].rstrip("0123456789")

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def signal_group(self, number: int) -> None:
        """To the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)


class Stack:
    """Start it, then add processes; each call returns once they are ready. stop() leaves nothing behind.

    `env` is added to the environment of every process: any setting of Refrain, or of the counting engine.
    The engine is the counting one unless `engines` names others and `env` says where they are.
    """

    def __init__(
        self,
        directory: Path,
        seeded: Seeded,
        *,
        env: Mapping[str, str] | None = None,
        engines: tuple[str, ...] = ENGINES,
    ) -> None:
        self.directory = directory
        self.seeded = seeded
        self.engines = engines
        self.redis = RedisServer(directory / "redis")
        self.children: list[Child] = []
        self.runs_log = directory / "runs.jsonl"
        self.public_port = free_port()
        self._extra = dict(env or {})
        self._guard: Guard | None = None
        self._not_awaited: list[tuple[Child, Callable[[], object]]] | None = None

    # --- Life ---------------------------------------------------------------------------------------------------

    def start(self) -> Stack:
        (self.directory / "static").mkdir(parents=True, exist_ok=True)
        self._guard = Guard()
        self.redis.start()
        return self

    def stop(self) -> None:
        """At once: what a test wants to end in good order, it ends itself by terminate()."""
        for child in self.children:
            child.signal_group(signal.SIGKILL)
        for child in self.children:
            child.process.wait(STOP_SECONDS)
        if self._guard:
            self._guard.close()
        self.redis.stop()

    # --- Processes ----------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Processes that are added within start beside each other; at the end all are ready."""
        self._not_awaited = []
        yield
        awaited, self._not_awaited = self._not_awaited, None
        for child, ready in awaited:
            self._wait_for(child, ready)

    def api(self, count: int = 1, *, env: Mapping[str, str] | None = None) -> list[Child]:
        """API processes, each on a port of its own; addresses of audio name the first one's."""
        started = [self._start_api(env) for _ in range(count)]
        for child in started:
            self._wait_for(child, partial(answers, child))
        return started

    def engine_worker(self, count: int = 1, *, env: Mapping[str, str] | None = None) -> list[Child]:
        return self._workers("engine", count, env, lambda name: services.engine_worker(name, self.engines))

    def io_worker(self, count: int = 1, *, env: Mapping[str, str] | None = None) -> list[Child]:
        return self._workers("io", count, env, services.io_worker)

    def beat(self) -> Child:
        child = self._spawn("beat", services.beat(), None)
        self._wait_for(child, lambda: any(self.directory.glob("celerybeat-schedule*")))
        return child

    def run(self, *command: str) -> str:
        """`manage.py` with these arguments, in the stack's environment; what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"manage.py {' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def kill(self, child: Child, number: int = signal.SIGKILL) -> None:
        """Send the signal to the whole group of this process; after SIGKILL also wait for its end."""
        child.signal_group(number)
        if number == signal.SIGKILL:
            child.process.wait(STOP_SECONDS)

    def revive(self, child: Child) -> None:
        """Start what was killed once more, on its port, as a supervisor would: without waiting until it is ready."""
        if self._guard:
            self._guard.forget(child.pid)
        child.process = child.start()

    def terminate(self, child: Child, *, seconds: float = 30.0) -> int:
        """End it in good order by SIGTERM to the process alone, as an operator would; its exit status."""
        child.process.terminate()
        return child.process.wait(seconds)

    # --- Asking -------------------------------------------------------------------------------------------------

    def client(self, child: Child | None = None, *, token: str | None = None) -> httpx.Client:
        """An HTTP client with the owner's key for this API process, or for the first one."""
        api = child or next(child for child in self.children if child.port)
        headers = {"Authorization": f"Bearer {token or self.seeded.owner}"}
        return httpx.Client(base_url=api.url, headers=headers, timeout=70, trust_env=False, verify=NO_TLS)

    def runs(self) -> list[dict[str, object]]:
        """The syntheses that the counting engine started, in order."""
        return counting.runs(self.runs_log)

    def wait_for_engines(self, *, seconds: float = READY_SECONDS) -> None:
        """Until the API knows every engine of this stack."""

        with self.client() as client:

            def known() -> bool:
                engines = client.get("/v1/engines").json()["results"]
                return set(self.engines) <= {engine["name"] for engine in engines if engine["available"]}

            self.wait_until(known, seconds=seconds, what="engine cards")

    def wait_until(self, predicate: Callable[[], Value], *, seconds: float = 20.0, what: str = "") -> Value:
        """The first true value of `predicate`; AssertionError when there is none in time."""
        deadline = time.monotonic() + seconds
        while True:
            if value := predicate():
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {what or predicate}")
            time.sleep(0.05)

    def log_tails(self) -> str:
        return "\n".join(f"--- {child.name}\n{_tail(child)}" for child in self.children)

    def environment(self) -> dict[str, str]:
        """What every process of this stack sees."""
        return {
            **os.environ,
            "DATABASE_URL": self.seeded.url,
            "REDIS_URL": self.redis.url,
            "CELERY_BROKER_URL": self.redis.url,
            "REFRAIN_VAR_DIR": str(self.directory),
            "REFRAIN_PUBLIC_URL": f"http://127.0.0.1:{self.public_port}",
            "REFRAIN_ENGINE_PACKAGES": "tests.engines",
            "REFRAIN_ENGINES": ",".join(self.engines),
            "COUNTING_LOG": str(self.runs_log),
            "PYTHONUNBUFFERED": "1",
            **self._extra,
        }

    # --- Parts --------------------------------------------------------------------------------------------------

    def _start_api(self, env: Mapping[str, str] | None) -> Child:
        first = not any(child.port for child in self.children)
        port = self.public_port if first else free_port()
        child = self._spawn("api", services.api(port, threads=API_THREADS), env)
        child.port = port
        return child

    def _workers(
        self, kind: str, count: int, env: Mapping[str, str] | None, command: Callable[[str], list[str]]
    ) -> list[Child]:
        names = [f"{kind}{len(self.children) + number}" for number in range(count)]
        started = [self._spawn(name, command(name), env) for name in names]
        for child in started:
            self._wait_for(child, partial(_has_said, child, " ready."))
        return started

    def _spawn(self, kind: str, command: list[str], env: Mapping[str, str] | None) -> Child:
        log = self.directory / f"{len(self.children):02}-{kind}.log"
        start = partial(self._start_process, command, log, env or {})
        child = Child(log.stem, start(), log, start)
        self.children.append(child)
        return child

    def _start_process(self, command: list[str], log: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with log.open("ab") as output:
            process = subprocess.Popen(
                leashed(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=ROOT,
                env={**self.environment(), **env},
                start_new_session=True,
            )
        if self._guard:
            self._guard.watch(process.pid)
        return process

    def _wait_for(self, child: Child, ready: Callable[[], object]) -> None:
        if self._not_awaited is not None:
            self._not_awaited.append((child, ready))
            return
        deadline = time.monotonic() + READY_SECONDS
        while not ready():
            if not child.alive or time.monotonic() > deadline:
                raise AssertionError(f"{child.name} did not become ready:\n{_tail(child)}")
            time.sleep(0.05)


def answers(api: Child) -> bool:
    try:
        return httpx.get(f"{api.url}/healthz", timeout=2, trust_env=False, verify=NO_TLS).status_code < 500
    except httpx.TransportError:
        return False


def _has_said(child: Child, words: str) -> bool:
    return words in child.output()


def _tail(child: Child) -> str:
    return "\n".join(child.output().splitlines()[-TAIL_LINES:])
