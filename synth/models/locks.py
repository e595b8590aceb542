"""Lets one transaction at a time do what a name stands for: for counts that a limit is judged by."""

from django.db import connection


def one_at_a_time(name: str) -> None:
    """Wait for the others that do this; they wait until this transaction ends.

    A lock of its own, not that of a row: nobody waits for it who holds anything else that this transaction may need,
    as long as it is asked for first. SQLite has one writer at a time anyhow.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"refrain:{name}"])
