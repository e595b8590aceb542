"""Whose turn it is: which tenant, and which class of its work, a worker serves next. claim.py asks, then claims.

Nothing is locked here. What is asked reads one row for each tenant and class that wait, however many rows wait.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from threading import Lock
from typing import Any
from uuid import UUID

from cachetools import LRUCache
from django.db import connection
from django.db.models import Count, Model, QuerySet
from django.db.models.functions import Now

from synth.conf import conf
from synth.models import Rendering, Synthesis
from synth.models.clock import database_now
from synth.models.prepared import prepared_rows
from synth.models.states import CLAIMABLE, OPEN, Priority, State
from tenants.models import Tenant

LOWER_CLASSES_EVERY = 8
MAX_TENANTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A tenant that waits with work of one class: since when, and how many sentences of it may run, 0 for any."""

    priority: int
    tenant_id: UUID
    since: datetime
    most_running: int


class Rotation:
    """What a process remembers of the turns that it gave: workers of one process share it, others have their own.

    Running work alone does not tell who was served: it is over by the time a lone worker claims again.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._claims = count(1)
        self._given = count(1)
        self._last: LRUCache[UUID, int] = LRUCache(MAX_TENANTS)

    def goes_below(self) -> bool:
        """Whether the next claim is the one in eight that goes to what has waited longest below interactive work."""
        return next(self._claims) % LOWER_CLASSES_EVERY == 0

    def note(self, tenant_id: UUID) -> None:
        with self._lock:
            self._last[tenant_id] = next(self._given)

    def choose(self, turns: Sequence[Turn], running: Mapping[UUID, int], *, below: bool) -> Turn | None:
        """The most urgent class; in it who has least running, then who was served longest ago, then the oldest.

        Whoever has as much running as it may is passed over.
        """
        free = [turn for turn in turns if not turn.most_running or running.get(turn.tenant_id, 0) < turn.most_running]
        lower = [turn for turn in free if turn.priority > Priority.INTERACTIVE]
        if below and lower:
            return min(lower, key=lambda turn: turn.since)
        best = min((turn.priority for turn in free), default=None)
        rivals = [turn for turn in free if turn.priority == best]
        with self._lock:
            last = {turn.tenant_id: self._last.get(turn.tenant_id, 0) for turn in rivals}
        return min(
            rivals,
            key=lambda turn: (running.get(turn.tenant_id, 0), last[turn.tenant_id], turn.since),
            default=None,
        )


def running_by_tenant() -> dict[UUID, int]:
    """Sentences that engines speak now, all engines together."""
    return dict(_running())


def running_of(tenant_id: UUID) -> int:
    return sum(_running_of(tenant_id=tenant_id))


def sentences_waiting(engine: str, version: str) -> list[Turn]:
    waits = f"item.engine = %(engine)s AND item.model_version = %(version)s AND {_is_one_of(OPEN)} AND {_DUE}"
    return _turns(Synthesis, waits, engine=engine, version=version)


def renderings_waiting() -> list[Turn]:
    return _turns(Rendering, f"{_is_one_of(CLAIMABLE)} AND {_DUE}")


# --- The queries ----------------------------------------------------------------------------------------------------


@prepared_rows
def _running() -> QuerySet[Synthesis, tuple[UUID, int]]:
    rows = Synthesis.objects.filter(state=State.RUNNING, lease_until__gte=Now()).order_by()
    return rows.values_list("tenant_id").annotate(number=Count("id"))


@prepared_rows
def _running_of(tenant_id: Any) -> QuerySet[Synthesis, int]:
    rows = Synthesis.objects.filter(tenant_id=tenant_id, state=State.RUNNING, lease_until__gte=Now()).order_by()
    return rows.values("tenant_id").annotate(number=Count("id")).values_list("number", flat=True)


def _is_one_of(states: Sequence[State]) -> str:
    """In the words of the condition of an index, so that it is taken."""
    return "item.state IN ({})".format(", ".join(f"'{state}'" for state in states))


# As `claim.claimable` says.
_DUE = f"""(
    item.state = '{State.QUEUED}' AND (item.not_before IS NULL OR item.not_before <= {{now}})
    OR item.state = '{State.RUNNING}' AND item.lease_until < {{now}}
)"""

# From the oldest row of the first tenant to that of the next one, each by one step into the index: to the next tenant
# of the same class, or else to the first one of the next class.
_FIRST_OF_EACH = """
WITH RECURSIVE head (id, priority, tenant_id, created_at) AS (
    SELECT * FROM (
        SELECT item.id, item.priority, item.tenant_id, item.created_at FROM {table} AS item WHERE {waits}
        ORDER BY item.priority, item.tenant_id, item.created_at LIMIT 1
    ) AS beginning
    UNION ALL
    SELECT other.id, other.priority, other.tenant_id, other.created_at
    FROM head JOIN {table} AS other ON other.id = COALESCE(
        (
            SELECT item.id FROM {table} AS item
            WHERE {waits} AND item.priority = head.priority AND item.tenant_id > head.tenant_id
            ORDER BY item.tenant_id, item.created_at LIMIT 1
        ),
        (
            SELECT item.id FROM {table} AS item WHERE {waits} AND item.priority > head.priority
            ORDER BY item.priority, item.tenant_id, item.created_at LIMIT 1
        )
    )
)
SELECT head.*, tenant.max_running AS most_running FROM head JOIN {tenants} AS tenant ON tenant.id = head.tenant_id
"""


# A queue is empty or holds one row nearly always when somebody waits for every millisecond: PostgreSQL plans the other
# query for longer than it answers it.
_FIRST_TWO = """
SELECT item.id, item.priority, item.tenant_id, item.created_at, tenant.max_running AS most_running
FROM {table} AS item JOIN {tenants} AS tenant ON tenant.id = item.tenant_id WHERE {waits}
ORDER BY item.priority, item.tenant_id, item.created_at LIMIT 2
"""


def _turns(kind: type[Model], waits: str, **values: Any) -> list[Turn]:
    moment = "statement_timestamp()"
    if connection.vendor == "sqlite":
        moment, values["now"] = "%(now)s", database_now()
    tables = {"table": kind._meta.db_table, "tenants": Tenant._meta.db_table}  # noqa: SLF001 - Django's name for it
    places = {"waits": waits.format(now=moment), **tables}
    first = _asked(kind, _FIRST_TWO.format(**places), values)
    return first if len(first) < 2 else _asked(kind, _FIRST_OF_EACH.format(**places), values)


def _asked(kind: type[Model], sql: str, values: dict[str, Any]) -> list[Turn]:
    rows: Any = kind._default_manager.raw(sql, values)  # noqa: SLF001
    usual = conf().max_running
    return [
        Turn(
            priority=row.priority,
            tenant_id=row.tenant_id,
            since=row.created_at,
            most_running=usual if row.most_running is None else row.most_running,
        )
        for row in rows
    ]
