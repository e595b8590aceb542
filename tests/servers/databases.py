"""Fresh databases with tenants in them, copied from one that is migrated once; every stack gets its own."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg

from tests.servers.postgres import PostgresServer

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Seeded:
    """A database, and the tokens of its tenants' keys. The spares are for tests that suspend or revoke.

    `server` is where it lives, for those that restart it; None for a file.
    """

    url: str
    owner: str
    stranger: str
    spares: tuple[str, ...]
    server: PostgresServer | None = None

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Run one statement directly, and keep what it changed; the rows that it gives."""
        if self.url.startswith("postgresql"):
            with psycopg.connect(self.url) as asked:
                answer = asked.execute(statement)
                return answer.fetchall() if answer.description else []
        with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=20)) as asked, asked:
            return asked.execute(statement).fetchall()


class SeededDatabases:
    """On `postgres`, or in SQLite files below `directory`."""

    def __init__(self, directory: Path, postgres: PostgresServer | None) -> None:
        self._directory = directory
        self._postgres = postgres
        self._made = 0

    def fresh(self) -> Seeded:
        self._made += 1
        template = self._template
        if self._postgres:
            return replace(template, url=self._postgres.create_database(f"stack{self._made}", template="seeded"))
        copy = self._directory / f"stack{self._made}.sqlite3"
        shutil.copyfile(self._directory / "seeded.sqlite3", copy)
        return replace(template, url=f"sqlite:///{copy}")

    @cached_property
    def _template(self) -> Seeded:
        self._directory.mkdir(parents=True, exist_ok=True)
        sqlite = f"sqlite:///{self._directory / 'seeded.sqlite3'}"
        url = self._postgres.create_database("seeded") if self._postgres else sqlite
        done = subprocess.run(
            [sys.executable, "-m", "tests.servers.seed"],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": url},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"the database could not be seeded:\n{done.stderr}")
        tokens = json.loads(done.stdout.splitlines()[-1])
        return Seeded(url, tokens["owner"], tokens["stranger"], tuple(tokens["spares"]), self._postgres)
