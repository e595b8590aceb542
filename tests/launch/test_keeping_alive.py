"""A process that dies is named and started again; one that never stays up ends the whole, with a failure."""

import asyncio
import io
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.launch.launched import Launched, wait_until
from ttsproject.launch import supervisor
from ttsproject.launch.guard import Guard
from ttsproject.launch.logs import Terminal
from ttsproject.launch.supervisor import Service, Supervisor


@pytest.mark.stack
def test_whatever_is_killed_comes_back(launch_migrated: Callable[..., Launched]) -> None:
    launched = launch_migrated()
    launched.wait_until_up()
    for name, mark in PROCESSES.items():
        victims = launched.like(mark)
        os.kill(min(victims), signal.SIGKILL)
        launched.wait_for(f"{name} ended by itself (signal SIGKILL); starting it again in 1 s.")
        wait_until(partial(_are_back, launched, mark, victims), what=name)
    assert launched.end(signal.SIGINT) == 0


# Of each, the process that the launcher started, and its children: these must go, too.
PROCESSES = {"io": "--queues io", "redis": "valkey-server", "engine": "--queues engine", "api": "granian"}


def _are_back(launched: Launched, mark: str, victims: set[int]) -> bool:
    now = launched.like(mark)
    return len(now) == len(victims) and not now & victims


def test_one_that_never_stays_up_ends_the_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(supervisor, "BACK_OFF", (0.01, 0.01))
    out = io.StringIO()

    async def run() -> str | None:
        guard = Guard()
        watched = Supervisor(Terminal(["doomed"], out), os.environ, directory=tmp_path, guard=guard)
        await watched.start(Service("doomed", [sys.executable, "-c", "print('oh'); raise SystemExit(3)"]))
        failure = await asyncio.wait_for(watched.wait(), 30)
        await watched.stop()
        guard.close()
        return failure

    assert asyncio.run(run()) == "doomed does not stay up: stopping everything."
    assert out.getvalue().count("doomed  | oh") == 3
    assert out.getvalue().count("(exit status 3)") == 3
