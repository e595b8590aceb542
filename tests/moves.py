"""Watches every state machine in the database itself: triggers note each move, whoever makes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import django
import pytest
from django.apps import apps
from django.db import connection

from tests.servers.databases import Seeded

Move = tuple[str, str, str]  # table, before, after

POSTGRESQL = (
    "CREATE TABLE moves_made (machine text, before text, after text)",
    "CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO moves_made VALUES "
    "(TG_TABLE_NAME, to_jsonb(OLD) ->> TG_ARGV[0], to_jsonb(NEW) ->> TG_ARGV[0]); RETURN NULL; END $$",
    "CREATE TRIGGER note_move_{table} AFTER UPDATE OF {column} ON {table} FOR EACH ROW "
    "WHEN (OLD.{column} IS DISTINCT FROM NEW.{column}) EXECUTE FUNCTION note_move('{column}')",
)
SQLITE = (
    POSTGRESQL[0],
    "CREATE TRIGGER note_move_{table} AFTER UPDATE OF {column} ON {table} WHEN OLD.{column} IS NOT NEW.{column} "
    "BEGIN INSERT INTO moves_made VALUES ('{table}', OLD.{column}, NEW.{column}); END",
)


class MovesMade:
    """What the triggers of a database noted. `ask` runs one statement and gives its rows."""

    def __init__(self, ask: Callable[[str], list[tuple[Any, ...]]], vendor: str) -> None:
        self._ask = ask
        for statement in POSTGRESQL if vendor == "postgresql" else SQLITE:
            for table, column in _columns().items() if "{table}" in statement else [("", "")]:
                ask(statement.format(table=table, column=column) if table else statement)

    def forget(self) -> None:
        self._ask("DELETE FROM moves_made")

    def made(self) -> set[Move]:
        return {(row[0], row[1], row[2]) for row in self._ask("SELECT DISTINCT machine, before, after FROM moves_made")}

    def forbidden(self) -> set[Move]:
        return self.made() - allowed()


def allowed() -> set[Move]:
    return {
        (machine._meta.db_table, str(before), str(after))
        for machine, moves in _machines().items()
        for before, following in moves.items()
        for after in following
    }


def of(machine: Any, moves: set[Move]) -> set[tuple[str, str]]:
    """Those of one machine."""
    return {(before, after) for table, before, after in moves if table == machine._meta.db_table}


def watch(seeded: Seeded) -> MovesMade:
    """The database of a stack; call it before the stack's processes begin."""
    return MovesMade(seeded.ask, seeded.url.partition(":")[0])


def _machines() -> Any:
    if not apps.ready:  # outside of pytest
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsproject.settings")
        django.setup()
    from synth.models.moves import MOVES

    return MOVES


def _columns() -> dict[str, str]:
    machines = _machines()
    from synth.models.moves import column_of

    return {machine._meta.db_table: column_of(machine) for machine in machines}


@pytest.fixture
def moves(db: None) -> Iterator[MovesMade]:
    """Of the test's own database; ask for it before any rows of work are made."""

    def ask(statement: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []

    yield MovesMade(ask, connection.vendor)
    if not connection.in_atomic_block:  # where tests commit, nothing else takes them back
        for statement in _undone(connection.vendor):
            ask(statement)


def _undone(vendor: str) -> list[str]:
    if vendor == "postgresql":
        return ["DROP FUNCTION note_move CASCADE", "DROP TABLE moves_made"]
    return [*(f"DROP TRIGGER note_move_{table}" for table in _columns()), "DROP TABLE moves_made"]
