"""Locks that rows alone do not give: one transaction at a time for a name, and rows that stay as long as one lasts."""

from typing import Any, Literal, TypeVar

from django.db import connection
from django.db.models import QuerySet

Value = TypeVar("Value")


def one_at_a_time(name: str) -> None:
    """Wait for the others that do this; they wait until this transaction ends.

    A lock of its own, not that of a row: nobody waits for it who holds anything else that this transaction may need,
    as long as it is asked for first. SQLite has one writer at a time anyhow.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"refrain:{name}"])


def held(rows: QuerySet[Any, Value], lock: Literal["SHARE", "KEY SHARE"]) -> set[Value]:
    """What these rows say in one column, and go on to say until the caller's transaction ends.

    SHARE: nobody changes them meanwhile; KEY SHARE: nobody deletes them. Others may hold them at the same time. On
    SQLite, whose transactions come one after the other, asking is enough.
    """
    if connection.vendor != "postgresql":
        return set(rows)
    sql, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} FOR {lock}", parameters)
        return {value for (value,) in cursor.fetchall()}
