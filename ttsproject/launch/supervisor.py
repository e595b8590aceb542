"""Runs the processes of `make run`: starts them, passes on what they print, restarts what dies, stops them all."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ttsproject.launch.guard import Guard, kill_group
from ttsproject.launch.leash import leashed
from ttsproject.launch.logs import Terminal
from ttsproject.launch.preflight import CannotStart

LINE_LIMIT = 2**20
# Longer than a sentence takes; what is cut off after that is taken up again when its lease has run out.
STOP_SECONDS = 10.0
# So much time in good health wipes out earlier restarts.
HEALTHY_SECONDS = 60.0
BACK_OFF = (1.0, 2.0, 4.0, 8.0, 15.0)


@dataclass(frozen=True)
class Service:
    """One long-running process. `log` is the file it writes to where it does not print."""

    name: str
    command: list[str]
    log: Path | None = None


@dataclass
class _Running:
    service: Service
    process: asyncio.subprocess.Process
    started: float
    output: asyncio.Task[None]
    restarts: int = 0
    keeper: asyncio.Task[None] | None = field(default=None)


class Supervisor:
    """Everything that it starts belongs to a process group of its own, which no signal of the terminal reaches."""

    def __init__(self, terminal: Terminal, variables: Mapping[str, str], *, directory: Path, guard: Guard) -> None:
        self._terminal = terminal
        self._variables = dict(variables)
        self._directory = directory
        self._guard = guard
        self._running: list[_Running] = []
        self._stop = asyncio.Event()
        self._failure: str | None = None

    def listen_to_signals(self) -> None:
        """The first Ctrl-C (or SIGTERM, or a closed terminal) stops in good order, a second one at once."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._on_signal)

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    async def start(self, service: Service) -> None:
        running = await self._spawn(service)
        self._running.append(running)
        running.keeper = asyncio.create_task(self._keep(running))
        running.keeper.add_done_callback(self._on_keeper_end)

    async def run_once(self, name: str, command: list[str]) -> None:
        """To its end. Raises CannotStart when it fails; a stop asked for meanwhile ends it."""
        running = await self._spawn(Service(name, command))
        ended = asyncio.create_task(running.process.wait())
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait({ended, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        await self._end(running)
        if not self.stopping and running.process.returncode:
            raise CannotStart(f"`{name}` failed ({_how_it_ended(running.process.returncode)}): see its lines above.")

    async def wait(self) -> str | None:
        """Until somebody asks to stop (None), or a process cannot be kept alive (the sentence that says so)."""
        await self._stop.wait()
        return self._failure

    async def stop(self) -> None:
        """The last started first: workers end before what they talk to. Nothing is left afterwards."""
        self._stop.set()
        keepers = [running.keeper for running in self._running if running.keeper]
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)
        first = self._running[:1]  # Redis, or whatever the others need to end in good order
        await asyncio.gather(*(self._end(running) for running in self._running[1:]))
        await asyncio.gather(*(self._end(running) for running in first))

    # --- Parts --------------------------------------------------------------------------------------------------

    def _on_signal(self) -> None:
        if self.stopping:
            for running in self._running:
                kill_group(running.process.pid)
            return
        self._terminal.say("Stopping everything; Ctrl-C again does it at once ...")
        self._stop.set()

    def _on_keeper_end(self, keeper: asyncio.Task[None]) -> None:
        if not keeper.cancelled() and (error := keeper.exception()):
            self._failure = f"A process could not be started again: {error}"
            self._stop.set()

    async def _spawn(self, service: Service) -> _Running:
        # A pipe of our own: asyncio's would have wait() hang for as long as any grandchild holds its other end.
        ours, theirs = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *leashed(service.command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                env=self._variables,
                cwd=self._directory,
                start_new_session=True,
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._guard.watch(process.pid)
        output = asyncio.create_task(self._pass_on(service.name, ours))
        return _Running(service, process, time.monotonic(), output)

    async def _pass_on(self, name: str, pipe: int) -> None:
        reader = asyncio.StreamReader(limit=LINE_LIMIT)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipe, "rb", 0)
        )
        try:
            while line := await _line(reader):
                if text := line.decode(errors="replace").rstrip():
                    self._terminal.line(name, text)
        finally:
            transport.close()

    async def _keep(self, running: _Running) -> None:
        """Start it again whenever it ends, with growing pauses; give up when it never stays up."""
        while True:
            status = await running.process.wait()
            await self._clear_away(running)
            self._tell_end(running, status)
            if time.monotonic() - running.started > HEALTHY_SECONDS:
                running.restarts = 0
            if running.restarts == len(BACK_OFF):
                self._failure = f"{running.service.name} does not stay up: stopping everything."
                self._stop.set()
                return
            await asyncio.sleep(BACK_OFF[running.restarts])
            fresh = await self._spawn(running.service)
            running.restarts += 1
            running.process, running.output, running.started = fresh.process, fresh.output, fresh.started

    def _tell_end(self, running: _Running, status: int) -> None:
        name = running.service.name
        if running.service.log and running.service.log.exists():
            for line in running.service.log.read_text(errors="replace").splitlines()[-5:]:
                self._terminal.line(name, line)
        again = ""
        if running.restarts < len(BACK_OFF):
            again = f"; starting it again in {BACK_OFF[running.restarts]:.0f} s"
        self._terminal.say(f"{name} ended by itself ({_how_it_ended(status)}){again}.")

    async def _end(self, running: _Running) -> None:
        """SIGTERM to the process, which ends its own children; after a while SIGKILL to all of them."""
        if running.process.returncode is None:
            running.process.terminate()
            try:
                await asyncio.wait_for(running.process.wait(), STOP_SECONDS)
            except TimeoutError:
                self._terminal.say(f"{running.service.name} did not end within {STOP_SECONDS:.0f} s: killed.")
        await self._clear_away(running)

    async def _clear_away(self, running: _Running) -> None:
        """Whatever is left of its group, and the last of its lines."""
        kill_group(running.process.pid)
        await running.process.wait()
        self._guard.forget(running.process.pid)
        await asyncio.wait({running.output}, timeout=2)


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The next one; one that is beyond the limit is left out."""
    while True:
        with contextlib.suppress(ValueError):
            return await reader.readline()


def _how_it_ended(status: int) -> str:
    if status < 0:
        return f"signal {signal.Signals(-status).name}"
    return f"exit status {status}"
