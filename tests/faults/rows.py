"""The rows of the scoreboard that have a command; a row is one file and a line here."""

from tests.faults import (
    audit_tampered,
    broker_away,
    broker_killed,
    cache_away,
    chaos,
    drawn_requests,
    dropped_connections,
    dying_web,
    flood,
    forbidden_addresses,
    hostile_posts,
    hostile_uploads,
    killed_workers,
    long_runs,
    overspent,
    poison,
    rolling_restart,
    soak,
    stampede,
    storage_away,
    waiters,
    webhooks,
)
from tests.faults.scoreboard import Row

ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        killed_workers.ROW,
        broker_killed.ROW,
        dropped_connections.ROW,
        broker_away.ROW,
        dying_web.ROW,
        long_runs.ROW,
        poison.ROW,
        rolling_restart.ROW,
        stampede.ROW,
        waiters.ROW,
        cache_away.ROW,
        storage_away.ROW,
        hostile_uploads.ROW,
        hostile_posts.ROW,
        webhooks.ROW,
        forbidden_addresses.ROW,
        flood.ROW,
        overspent.ROW,
        drawn_requests.ROW,
        audit_tampered.ROW,
        chaos.ROW,
        soak.ROW,
    )
}
