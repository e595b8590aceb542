"""Counts jobs that failed, by day, tenant, engine and code: `accounting.py` calls it with each job once."""

from collections import Counter
from collections.abc import Iterable

from synth.models import FailureDay, Job
from synth.models.counting import add_to
from synth.models.states import State


def count_failures(jobs: Iterable[Job]) -> None:
    """Called in the transaction that accounts for them; in one order whoever counts."""
    counts = Counter(
        (job.tenant_id, (job.ended_at or job.created_at).date(), job.engine, job.error_code)
        for job in jobs
        if job.state == State.FAILED
    )
    for (tenant_id, day, engine, code), failures in sorted(counts.items()):
        add_to(FailureDay, {"failures": failures}, tenant_id=tenant_id, day=day, engine=engine, code=code)
