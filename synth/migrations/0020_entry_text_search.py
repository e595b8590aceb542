"""On PostgreSQL, an index by which the text of entries is searched. Built while the table is written to."""

import logging

from django.db import DatabaseError, migrations

logger = logging.getLogger(__name__)

# As Django writes `icontains`: of the upper case.
CREATE = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS entry_text_search ON synth_entry USING gin (UPPER(text) gin_trgm_ops)"
)


def create(_apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    try:
        schema_editor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        schema_editor.execute(CREATE)
    except DatabaseError as error:
        # The search works without, and takes longer.
        logger.warning("entries are searched without an index, since pg_trgm cannot be used: %s", error)


def drop(_apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS entry_text_search")


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("synth", "0019_dashboard"),
    ]

    operations = [migrations.RunPython(create, drop)]
