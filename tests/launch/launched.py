"""`make run` without the installing: the launcher as a process, and how the tests of this folder look at it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dotenv import dotenv_values

from tests.servers.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
UP_SECONDS = 60.0
DOWN_SECONDS = 30.0


class Launched:
    """One launcher with its own data folder and port. The counting engine stands in for the default ones."""

    def __init__(self, var: Path, *, port: int | None = None, env: dict[str, str] | None = None) -> None:
        self.var = var
        self.port = port or free_port()
        self._output = var.parent / f"{self.port}.log"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ttsproject.launch"],
            cwd=ROOT,
            env=launch_environment(var, self.port) | (env or {}),
            stdin=subprocess.DEVNULL,
            stdout=self._output.open("ab"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def output(self) -> str:
        return self._output.read_text(encoding="utf-8", errors="replace")

    @property
    def demo(self) -> dict[str, str]:
        return {name: value or "" for name, value in dotenv_values(self.var / "demo.env").items()}

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.output or self.process.poll() is not None, what=text)
        assert text in self.output, self.output

    def wait_until_up(self) -> None:
        """Until every process has said that it works."""
        wait_until(lambda: self.output.count(" ready.") >= 2 or self.process.poll() is not None, what="workers")
        assert self.process.poll() is None, self.output

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(DOWN_SECONDS)

    def processes(self) -> dict[int, str]:
        """Every process, at any depth, that works on this data folder: pid and command line."""
        return {pid: command for pid, command in _all_processes() if self._is_ours(Path(f"/proc/{pid}"))}

    def like(self, mark: str) -> set[int]:
        """The pids of those with `mark` in their command line."""
        return {pid for pid, command in self.processes().items() if mark in command}

    def _is_ours(self, process: Path) -> bool:
        """By its environment, or (Valkey writes its title over that) by its working directory."""
        try:
            environ = (process / "environ").read_bytes().split(b"\0")
            return f"REFRAIN_VAR_DIR={self.var}".encode() in environ or self.var in (process / "cwd").readlink().parents
        except OSError:
            return False

    def clean_up(self) -> None:
        self.process.kill()
        self.process.wait()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):  # the guard may be first
                os.kill(pid, signal.SIGKILL)


def launch_environment(var: Path, port: int) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("REFRAIN_", "REDIS_"))}
    inherited.pop("DATABASE_URL", None)
    return {
        **inherited,
        "PORT": str(port),
        "REFRAIN_VAR_DIR": str(var),
        "REFRAIN_ENGINES": "counting",
        "REFRAIN_ENGINE_PACKAGES": "tests.engines",
    }


def wait_until(condition: Callable[[], object], *, seconds: float = UP_SECONDS, what: str = "") -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def _all_processes() -> Iterator[tuple[int, str]]:
    """Pid and command line; zombies have none any more, and do not count."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if command := (folder / "cmdline").read_bytes():
                yield int(folder.name), command.replace(b"\0", b" ").decode(errors="replace")
