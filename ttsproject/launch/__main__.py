"""`python -m ttsproject.launch`: what `make run` runs once everything is installed."""

from __future__ import annotations

import asyncio
import os
import sys

from ttsproject.launch import environment, preflight, services, valkey, voices, welcome
from ttsproject.launch.container import DEFAULT_MAX_WAITERS, THREADS_FOR_HITS
from ttsproject.launch.environment import RunEnvironment
from ttsproject.launch.guard import Guard
from ttsproject.launch.logs import Terminal
from ttsproject.launch.preflight import CannotStart
from ttsproject.launch.supervisor import Service, Supervisor

REDIS, SETUP, API, ENGINE, IO, BEAT = "redis", "setup", "api", "engine", "io", "beat"
# Said by Celery on every start as root, which in a container is nothing unusual.
QUIET = "ignore:You're running the worker"


def main() -> int:
    os.umask(0o077)  # what tenants say is nobody else's on this machine
    variables = environment.read()
    var = environment.var_directory(variables)
    terminal = Terminal([REDIS, SETUP, API, ENGINE, IO, BEAT])
    try:
        with preflight.lock(var):
            preflight.check(variables, var)
            run = environment.complete(variables)
            fetch_voices(run, terminal)
            return run_all(run, terminal)
    except KeyboardInterrupt:  # while it fetches; later it is a signal like others
        return 130
    except CannotStart as sentence:
        print(sentence, file=sys.stderr)
        return 1


def fetch_voices(run: RunEnvironment, terminal: Terminal) -> None:
    """Once; a start without a network goes on without them."""
    directory = run.voices_to_fetch
    if directory is None or not voices.lacking(directory):
        return
    terminal.say("Fetching Kokoro's Chinese voices: once, 27 MB ...")
    try:
        voices.fetch(directory)
    except voices.CannotFetch as reason:
        terminal.say(voices.apology(directory, reason))


def run_all(run: RunEnvironment, terminal: Terminal) -> int:
    (run.var / "static").mkdir(parents=True, exist_ok=True)
    guard = Guard()
    try:
        return asyncio.run(_run(run, terminal, guard))
    finally:
        guard.close()


async def _run(run: RunEnvironment, terminal: Terminal, guard: Guard) -> int:
    variables = {**run.variables, "PYTHONWARNINGS": QUIET}
    supervisor = Supervisor(terminal, variables, directory=environment.ROOT, guard=guard)
    supervisor.listen_to_signals()
    greeting: asyncio.Task[None] | None = None
    try:
        await _start(run, supervisor)
        greeting = asyncio.create_task(_welcome(run, terminal, supervisor))
        failure = await supervisor.wait()
    except CannotStart as sentence:
        failure = str(sentence)
    finally:
        if greeting:
            greeting.cancel()
        await supervisor.stop()
    terminal.say(failure or "Everything has stopped.")
    return 1 if failure else 0


async def _start(run: RunEnvironment, supervisor: Supervisor) -> None:
    """What the others need comes first; a stop asked for meanwhile leaves the rest out."""
    python = sys.executable
    if run.redis_port:
        await supervisor.start(redis_service(run, run.redis_port))
        await valkey.wait_until_ready(run.redis_port)
    migrate = ["manage.py", "migrate", "--no-input", "--verbosity", "0"]
    for command in (migrate, ["-m", "ttsproject.launch.demo", str(run.demo_file), run.url]):
        if not supervisor.stopping:
            await supervisor.run_once(SETUP, [python, *command])
    for service in refrain_services(run):
        if not supervisor.stopping:
            await supervisor.start(service)


async def _welcome(run: RunEnvironment, terminal: Terminal, supervisor: Supervisor) -> None:
    terminal.say("Started; waiting for the engines to load ...")
    engines = await welcome.wait_for_engines(run)
    if not supervisor.stopping:
        terminal.plain(welcome.text(run, engines))


def redis_service(run: RunEnvironment, port: int) -> Service:
    directory = run.var / "redis"
    directory.mkdir(parents=True, exist_ok=True)
    log = directory / "valkey.log"
    log.unlink(missing_ok=True)
    settings = {**valkey.CACHE_AND_BROKER, "logfile": str(log)}
    return Service(REDIS, valkey.command(directory, port, settings), log)


def refrain_services(run: RunEnvironment) -> list[Service]:
    waiters = int(run.variables.get("REFRAIN_MAX_WAITERS") or DEFAULT_MAX_WAITERS)
    return [
        Service(API, services.api(run.port, threads=waiters + THREADS_FOR_HITS)),
        Service(ENGINE, services.engine_worker(ENGINE, run.engines)),
        Service(IO, services.io_worker(IO)),
        Service(BEAT, services.beat()),
    ]


if __name__ == "__main__":
    sys.exit(main())
