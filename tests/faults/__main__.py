"""Long forms of the scoreboard's rows: `python -m tests.faults R1 S2 --runs 5`, by default every row.

Prints a line of figures a run, then a table with the worst of each row; exits with 1 when a requirement is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.faults.rows import ROWS
from tests.faults.scoreboard import Figures, Row, worst
from tests.plugin import OURS, POSTGRESQL, SECRET_KEY, SQLITE
from tests.servers.databases import SeededDatabases
from tests.servers.postgres import PostgresServer
from tests.stack import Stack


class Ground:
    """Makes stacks in a folder of its own, and ends them after each run."""

    def __init__(self, directory: Path, databases: SeededDatabases) -> None:
        self._directory = directory
        self._databases = databases
        self._open: list[Stack] = []
        self._made = 0

    def __call__(self, **options: Any) -> Stack:
        self._made += 1
        stack = Stack(self._directory / f"stack{self._made}", self._databases.fresh(), **options)
        self._open.append(stack)
        return stack.start()

    def clear(self) -> None:
        while self._open:
            self._open.pop().stop()


def main() -> int:
    options = _options()
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ["REFRAIN_SECRET_KEY"] = SECRET_KEY
    postgres = PostgresServer() if options.database == POSTGRESQL else None
    with tempfile.TemporaryDirectory(prefix="refrain-faults-") as folder:
        os.environ["REFRAIN_VAR_DIR"] = folder
        if postgres:
            postgres.start()
        try:
            ground = Ground(Path(folder), SeededDatabases(Path(folder) / "databases", postgres))
            results = {name: _play(ROWS[name], ground, options) for name in options.rows or ROWS}
        finally:
            if postgres:
                postgres.remove()
    return _report(results, options.database, long=not options.short)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="names of rows; by default all")
    parser.add_argument("--runs", type=int, default=1, help="how often each is played, with one seed after another")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--database", choices=[SQLITE, POSTGRESQL], default=SQLITE)
    parser.add_argument("--short", action="store_true", help="the sizes that CI plays")
    return parser.parse_args()


def _play(row: Row, ground: Ground, options: argparse.Namespace) -> list[Figures]:
    size = row.short if options.short else row.long
    played = []
    for seed in range(options.seed, options.seed + options.runs):
        started = time.monotonic()
        try:
            figures = row.play(ground, seed=seed, **size)
        finally:
            ground.clear()
        took = round(time.monotonic() - started)
        rounded = {name: round(value, 3) for name, value in figures.items()}
        print(json.dumps({"row": row.name, "seed": seed, "took": took, "size": size, **rounded}), flush=True)
        played.append(figures)
    return played


def _report(results: dict[str, list[Figures]], database: str, *, long: bool) -> int:
    print(f"\n| row | fault | database | runs | worst figures | verdict |\n|{'---|' * 6}")
    failed = 0
    for name, played in results.items():
        row, figures = ROWS[name], worst(played)
        broken = row.broken(figures, long=long)
        failed += bool(broken)
        said = ", ".join(f"{figure} {value:.4g}" for figure, value in figures.items())
        print(f"| {name} | {row.title} | {database} | {len(played)} | {said} | {'; '.join(broken) or 'kept'} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
