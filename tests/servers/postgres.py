"""A private PostgreSQL cluster from the system's own binaries, for tests that run on both databases."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

import psycopg
from psycopg import sql

from tests.servers.ports import free_port
from ttsproject.launch.leash import leashed

START_SECONDS = 30.0
STOP_SECONDS = 20.0
USER = "refrain"
# Nothing here outlives the machine, so the disk need not keep up; a killed server still keeps what it committed.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "log_line_prefix": "%m [%p] ",
}


class PostgresServer:
    """One cluster; port and data stay the same over kill() and start(). remove() also deletes its folder.

    PostgreSQL refuses to run as root: then it runs as the user `postgres` or `nobody`, in a folder that it can reach.
    """

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="refrain-postgres-"))
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Make the cluster on first use, start it, and wait until it answers."""
        if self.running:
            return
        if not self._data.exists():
            self._initialise()
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        sockets = ["-c", f"unix_socket_directories={self._directory}"]
        server = [str(binary("postgres")), "-D", str(self._data), "-p", str(self.port), *sockets, *settings]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_unprivileged(), *leashed(server)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/"
            )
        self._wait_until_it_answers()

    def stop(self) -> None:
        """Disconnect everybody and shut down in good order."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """As a crash would: the server recovers at the next start()."""
        self._end(signal.SIGKILL)

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def create_database(self, name: str, *, template: str = "template0") -> str:
        """Make an empty database, or a copy of `template`; its URL."""
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} ENCODING 'UTF8'")
        self._execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return self.url(name)

    def drop_database(self, name: str) -> None:
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    @property
    def _data(self) -> Path:
        return self._directory / "data"

    @property
    def _log(self) -> Path:
        return self._directory / "postgres.log"

    def _initialise(self) -> None:
        if os.geteuid() == 0:
            shutil.chown(self._directory, _owner().pw_uid, _owner().pw_gid)
        command = [str(binary("initdb")), "-D", str(self._data), "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"]
        done = subprocess.run(
            [*_unprivileged(), *command, "--locale=C.UTF-8"], capture_output=True, text=True, check=False, cwd="/"
        )
        if done.returncode:
            raise RuntimeError(f"initdb failed:\n{done.stdout}\n{done.stderr}")

    def _execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url(), autocommit=True, connect_timeout=5) as connection:
            connection.execute(statement)

    def _end(self, with_signal: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(with_signal)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_SECONDS)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if not self.running or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"PostgreSQL did not start:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def binary(name: str) -> Path:
    """A server program of the newest PostgreSQL that is installed."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    found = shutil.which(name, path=os.pathsep.join([*map(str, reversed(versions)), os.environ.get("PATH", "")]))
    if found is None:
        raise RuntimeError(f"PostgreSQL's {name} is missing. On Debian or Ubuntu: apt-get install postgresql")
    return Path(found)


def _owner() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _unprivileged() -> list[str]:
    if os.geteuid() != 0:
        return []
    owner = _owner()
    return ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]
