"""What became of everything that a mixed load was promised: each job and each item of a batch has one end."""

from __future__ import annotations

from collections.abc import Set
from uuid import UUID

from tenants.ids import parse_id
from tests.faults.asking import number, rows
from tests.faults.mixed_load import Load
from tests.faults.scoreboard import Figures
from tests.stack import Stack

# A sentence whose worker is killed at each of its attempts fails, and says so.
UNLUCKY = "worker_lost"
COMPLETED = (
    "SELECT id FROM synth_curationaction WHERE kind = 'batch' AND state = 'succeeded'"
    " AND matched = done + cached + failed AND NOT EXISTS (SELECT 1 FROM synth_curationline"
    " WHERE action_id = synth_curationaction.id AND outcome NOT IN ('done', 'cached', 'failed'))"
)
OF_BATCHES = "SELECT job_id FROM synth_curationline WHERE job_id IS NOT NULL"
LIMITS = {
    "lost": 0,
    "jobs_nobody_knows": 0,
    "batches_nobody_knows": 0,
    "batches_not_completed": 0,
    "items_missing": 0,
    "failed": 0,
}


def outcomes(stack: Stack, load: Load, *, others: Set[str] = frozenset()) -> Figures:
    """What `nobody_knows` was accepted, and no client was told so. `others` are jobs that the load did not ask for."""
    jobs, batches = _ids(stack, "SELECT id FROM synth_job"), _ids(stack, "SELECT id FROM synth_curationaction")
    asked = {parse_id("job", job) for job in load.jobs | others}
    sent = {parse_id("bat", batch) for batch in load.batches}
    failed = "SELECT count(*) FROM synth_job WHERE state = 'failed' AND error_code"
    return {
        "lost": len(asked - jobs),
        "jobs_nobody_knows": len(jobs - asked - _ids(stack, OF_BATCHES)),
        "batches_nobody_knows": len(batches - sent),
        "batches_not_completed": len(sent - _ids(stack, COMPLETED)),
        "items_missing": load.items - number(stack, "SELECT count(*) FROM synth_curationline"),
        "unlucky": number(stack, f"{failed} = '{UNLUCKY}'"),
        "failed": number(stack, f"{failed} <> '{UNLUCKY}'"),
    }


def _ids(stack: Stack, query: str) -> set[UUID]:
    return {UUID(str(found)) for (found,) in rows(stack, query)}
