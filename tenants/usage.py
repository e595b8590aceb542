"""Writes down what was used: a row a request, and with it the sums by day. `synth.service.accounting` calls it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Model
from django.db.models.constants import OnConflict
from django.db.models.sql import InsertQuery

from tenants.models import Usage, UsageDay
from tenants.models.usage_day import NO_KEY, SPOKEN

ROWS = 200  # of one statement
KEY = ("tenant_id", "day", "api_key_id", "engine", "voice", "outcome", "state")
SUMS = ("requests", "characters", "synthesised", "seconds")


class Line(NamedTuple):
    """Names one row of UsageDay; in the order in which rows are locked."""

    tenant_id: UUID
    day: date
    api_key_id: UUID
    engine: str
    voice: str
    outcome: str
    state: str


@dataclass(slots=True)
class Sums:
    requests: int = 0
    characters: int = 0
    synthesised: int = 0
    seconds: float = 0.0


@transaction.atomic
def write_usage(rows: Sequence[Usage]) -> None:
    """Write these rows and add them to their days. One that is there already changes nothing."""
    new = {row_id for start in range(0, len(rows), ROWS) for row_id in _inserted(rows[start : start + ROWS])}
    sums: dict[Line, Sums] = {}
    for row in rows:
        if row.id in new:
            new.remove(row.id)  # two of one batch may be the same
            _count(sums.setdefault(_line(row), Sums()), row)
    add_to_days(sums)


def add_spoken(
    tenant_id: UUID, api_key_id: UUID | None, *, day: date, engine: str, voice: str, characters: int
) -> None:
    """A sentence was spoken that is charged; called in the transaction that publishes it."""
    line = Line(tenant_id, day, api_key_id or NO_KEY, engine, voice, SPOKEN, "succeeded")
    add_to_days({line: Sums(synthesised=characters)})


def add_to_days(sums: dict[Line, Sums]) -> None:
    """In one order, whoever writes: two that add to the same rows then wait for each other, never in a circle."""
    lines = sorted(sums)
    for start in range(0, len(lines), ROWS):
        chosen = lines[start : start + ROWS]
        _add([(line, sums[line]) for line in chosen])


def correct_gap(row: Usage) -> None:
    """Write a gap, or the greater number of one that is there already."""
    with transaction.atomic():
        before = Usage.objects.select_for_update().filter(id=row.id).first()
        if before is None:
            write_usage([row])
            return
        Usage.objects.filter(id=row.id).update(count=row.count)
        add_to_days({_line(before): Sums(requests=row.count - before.count)})


def _line(row: Usage) -> Line:
    day = row.at.astimezone(UTC).date()
    return Line(row.tenant_id, day, row.api_key_id or NO_KEY, row.engine, row.voice, row.outcome, row.state)


def _count(sums: Sums, row: Usage) -> None:
    sums.requests += row.count
    sums.characters += row.characters
    sums.seconds += row.duration or 0.0


def _inserted(rows: Sequence[Usage]) -> Iterable[UUID]:
    """The ids of those that were not there yet. Django's bulk_create does not tell which it left out."""
    query = InsertQuery(Usage, on_conflict=OnConflict.IGNORE)
    query.insert_values(Usage._meta.concrete_fields, list(rows))  # noqa: SLF001
    compiler: Any = query.get_compiler(connection=connection)
    compiler.returning_fields = [Usage._meta.pk]  # noqa: SLF001
    with connection.cursor() as cursor:
        for sql, parameters in compiler.as_sql():
            cursor.execute(sql, parameters)
            yield from [row_id if isinstance(row_id, UUID) else UUID(hex=row_id) for (row_id,) in cursor.fetchall()]


def _add(amounts: Sequence[tuple[Line, Sums]]) -> None:
    """One statement; Django's bulk_create can replace numbers, not add to them."""
    rows: list[Model] = [
        UsageDay(**line._asdict(), **{name: getattr(sums, name) for name in SUMS}) for line, sums in amounts
    ]
    fields = [field for field in UsageDay._meta.concrete_fields if not field.primary_key]  # noqa: SLF001
    query = InsertQuery(UsageDay)
    query.insert_values(fields, rows)
    table = connection.ops.quote_name(UsageDay._meta.db_table)  # noqa: SLF001
    changes = ", ".join(f"{name} = {table}.{name} + EXCLUDED.{name}" for name in SUMS)
    with connection.cursor() as cursor:
        for sql, parameters in query.get_compiler(connection=connection).as_sql():
            cursor.execute(f"{sql} ON CONFLICT ({', '.join(KEY)}) DO UPDATE SET {changes}", parameters)
