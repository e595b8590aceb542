"""The events that somebody looks for, and their export as CSV or JSON lines, a piece at a time."""

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db.models import QuerySet

from tenants.audit.sealing import text_hashes
from tenants.models import AuditEvent
from tenants.types import TenantRef

CHUNK = 1_000
COLUMNS = (
    "sequence", "at", "actor_kind", "actor_id", "actor_name", "action", "object", "status", "outcome", "cache",
    "characters", "count", "request_id", "address", "text_kind", "text", "detail", "mac",
)  # fmt: skip
NAMES = tuple("target" if name == "object" else name for name in COLUMNS)  # as callers know them
FORMATS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
# A spreadsheet would take what begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def audit(
    tenant: TenantRef,
    *,
    after: datetime | None = None,
    before: datetime | None = None,
    text: str = "",
    **columns: Any,
) -> QuerySet[AuditEvent]:
    """A tenant's events. `columns` are those that must be equal; `text` finds what tells of it, whole or as a hash."""
    rows = AuditEvent.objects.filter(tenant_id=tenant.id, **{name: value for name, value in columns.items() if value})
    if after is not None:
        rows = rows.filter(at__gt=after)
    if before is not None:
        rows = rows.filter(at__lt=before)
    return rows.filter(text__in=texts(tenant.id, text)) if text else rows


def texts(chain: UUID, text: str) -> list[str]:
    """All that a row may hold of this text."""
    return [text, *text_hashes(chain, text)]


def exported(rows: QuerySet[AuditEvent], form: str) -> Iterator[bytes]:
    """A header and lines, in the order of the rows; nothing is held but a piece."""
    events = rows.iterator(CHUNK)
    return _as_csv(events) if form == "csv" else _as_json(events)


def members(row: AuditEvent) -> dict[str, Any]:
    """A row as JSON says it."""
    said = {name: getattr(row, column) for name, column in zip(NAMES, COLUMNS, strict=True)}
    detail = orjson.loads(row.detail) if row.detail else None
    return {"object": "audit_event", "id": row.id.hex, **said, "detail": detail}


def _as_json(rows: Iterable[AuditEvent]) -> Iterator[bytes]:
    for row in rows:
        yield orjson.dumps(members(row), option=orjson.OPT_UTC_Z) + b"\n"


def _as_csv(rows: Iterable[AuditEvent]) -> Iterator[bytes]:
    line = io.StringIO()
    writer = csv.writer(line)
    writer.writerow(["id", *NAMES])
    for row in rows:
        writer.writerow([row.id.hex, *(_cell(getattr(row, name)) for name in COLUMNS)])
        yield line.getvalue().encode()
        line.seek(0)
        line.truncate()
    yield line.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
