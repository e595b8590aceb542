"""The database's clock: leases are judged by it alone, so that no worker's wrong clock can take another's work."""

from datetime import UTC, datetime

from django.db import connection


def database_now() -> datetime:
    """The time at the database, aware, in UTC. SQLite has no clock but this machine's."""
    if connection.vendor == "sqlite":
        return datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now
