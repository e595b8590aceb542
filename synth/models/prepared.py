"""Queries of the hot path whose SQL is written once: Django takes ten times longer to write a look-up's SQL than the
database to answer it.

    @prepared_rows
    def open_rendering(tenant_id: Any, flight: Any) -> QuerySet[Rendering]:
        return Rendering.objects.filter(tenant_id=tenant_id, flight=flight, state__in=OPEN)

    open_rendering(tenant_id=…, flight=…)  # a list of renderings

The body runs once for each connection, with parameters that stand for the values; each call only puts the values in.
It must not look at them, and takes single values, no lists. `insert` does the same for new rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from inspect import signature
from threading import local
from typing import Any, Generic, TypeAlias, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField, Expression, Model, QuerySet
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.models.sql.compiler import SQLCompiler

Row = TypeVar("Row")
Statement = TypeVar("Statement")
BATCH = 200
# The rows to change, and the changes by field.
Change: TypeAlias = tuple[QuerySet[Any], dict[str, Any]]


class Parameter(Expression):
    """Stands for a value that each call brings."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002
        return "%s", (self,)


class Word(Expression):
    """One of the statement's own words, such as the name of a state: not sent beside it, as values are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002
        return _quoted(self.text), ()


def words(texts: Sequence[str]) -> list[Word]:
    """For `state__in` of queries that are written anew each time: see `_spelt_out`."""
    return [Word(text) for text in texts]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''").replace("%", "%%") + "'"


class _Written(Generic[Statement]):
    """What all kinds share: one written statement for each connection."""

    def __init__(self) -> None:
        self._of_thread = local()  # as connections are

    def _statement(self, connection: BaseDatabaseWrapper) -> Statement:
        written_for, statement = getattr(self._of_thread, "written", (None, None))
        if written_for is not connection or statement is None:
            statement = self._write(connection)
            self._of_thread.written = (connection, statement)
        return statement

    def _write(self, connection: BaseDatabaseWrapper) -> Statement:
        raise NotImplementedError


class _Prepared(_Written[Statement]):
    """A statement that a function writes, with parameters for the values that each call puts into it."""

    def __init__(self, build: Callable[..., Any]) -> None:
        super().__init__()
        self._parameters = {name: Parameter(name) for name in signature(build).parameters}
        self._build = build
        self.__doc__ = build.__doc__


class PreparedRows(_Prepared[tuple[Any, Any, str, Sequence[Any]]], Generic[Row]):
    """Gives the rows that the queryset would give: models, tuples or single values."""

    def __call__(self, **values: Any) -> list[Row]:
        connection = connections[DEFAULT_DB_ALIAS]
        queryset, compiler, sql, parameters = self._statement(connection)
        bound = sql, bind(parameters, values, connection)
        compiler.as_sql = lambda *_, **__: bound
        return list(queryset._iterable_class(queryset))  # noqa: SLF001

    def _write(self, connection: BaseDatabaseWrapper) -> tuple[Any, Any, str, Sequence[Any]]:
        queryset = self._build(**self._parameters)
        compiler = queryset.query.get_compiler(connection=connection)
        sql, parameters = _spelt_out(*compiler.as_sql())
        queryset.query.get_compiler = lambda *_, **__: compiler
        return queryset, compiler, sql, parameters


class PreparedUpdate(_Prepared[tuple[str, Sequence[Any]]]):
    """Changes the rows of the queryset; returns how many."""

    def __call__(self, **values: Any) -> int:
        connection = connections[DEFAULT_DB_ALIAS]
        sql, parameters = self._statement(connection)
        with connection.cursor() as cursor:
            cursor.execute(sql, bind(parameters, values, connection))
            return int(cursor.rowcount)

    def _write(self, connection: BaseDatabaseWrapper) -> tuple[str, Sequence[Any]]:
        queryset, changes = self._build(**self._parameters)
        query = queryset.order_by().query.chain(UpdateQuery)
        query.add_update_values(changes)
        return _spelt_out(*query.get_compiler(connection=connection).as_sql())


class _PreparedInsert(_Written[tuple[str, list[Any]]]):
    """Writes new rows of one model, one at a time."""

    def __init__(self, model: type[Model]) -> None:
        super().__init__()
        self._model = model

    def __call__(self, row: Model) -> None:
        connection = connections[DEFAULT_DB_ALIAS]
        sql, fields = self._statement(connection)
        values = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in fields]
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS  # noqa: SLF001

    def _write(self, connection: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
        fields = [field for field in self._model._meta.concrete_fields if not isinstance(field, AutoField)]  # noqa: SLF001
        query = InsertQuery(self._model)
        query.insert_values(fields, [self._model()])
        ((sql, _),) = query.get_compiler(connection=connection).as_sql()
        return sql, fields


_inserts: dict[type[Model], _PreparedInsert] = {}


def insert(row: Model) -> None:
    """Write a new row, as `save(force_insert=True)` does, but without signals. Raises IntegrityError.

    Where the database numbers the rows, the row is not told its number.
    """
    model = type(row)
    prepared = _inserts.get(model) or _inserts.setdefault(model, _PreparedInsert(model))
    prepared(row)


def insert_all(rows: Sequence[Model]) -> None:
    """Write new rows of one model: most often it is one."""
    if len(rows) == 1:
        insert(rows[0])
    elif rows:
        type(rows[0])._default_manager.bulk_create(rows, batch_size=BATCH)  # noqa: SLF001


def prepared_rows(build: Callable[..., QuerySet[Any, Row]]) -> PreparedRows[Row]:
    """For a function that returns the queryset to read."""
    return PreparedRows(build)


def prepared_update(build: Callable[..., Change]) -> PreparedUpdate:
    """For a function that returns the queryset to change, and the changes by field."""
    return PreparedUpdate(build)


def _spelt_out(sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """With the statement's own words, such as the names of states, in its text: SQLite takes an index over a part of
    the rows only where the text says that it is about these.
    """
    left, kept = iter(parameters), []

    def put(place: re.Match[str]) -> str:
        if place[0] == "%%":
            return place[0]
        item = next(left)
        if isinstance(item, str):
            return _quoted(item)
        kept.append(item)
        return "%s"

    return re.sub("%[%s]", put, sql), kept


def bind(parameters: Sequence[Any], values: dict[str, Any], connection: BaseDatabaseWrapper) -> list[Any]:
    """The statement's parameters with the values in their places, each as this database takes it."""
    return [_adapted(values[item.name], connection) if isinstance(item, Parameter) else item for item in parameters]


def _adapted(value: Any, connection: BaseDatabaseWrapper) -> Any:
    if isinstance(value, UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return value
