"""The rows of the scoreboard that have a command; a row is one file and a line here."""

from tests.faults import (
    cache_away,
    dying_web,
    flood,
    hostile_uploads,
    killed_workers,
    long_runs,
    poison,
    stampede,
    storage_away,
    waiters,
)
from tests.faults.scoreboard import Row

ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        killed_workers.ROW,
        dying_web.ROW,
        long_runs.ROW,
        poison.ROW,
        stampede.ROW,
        waiters.ROW,
        cache_away.ROW,
        storage_away.ROW,
        hostile_uploads.ROW,
        flood.ROW,
    )
}
