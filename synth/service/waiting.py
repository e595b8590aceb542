"""Waits for the end of a job, without a database connection and without the turn of the caller."""

import time
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from synth import wiring
from synth.models import Job
from synth.models.prepared import prepared_rows
from synth.models.states import ENDED

LOOK_EVERY = 1.0


def wait_for(job: Job, seconds: float) -> Job:
    """The job once it has ended, or as it is when the time is over. No database connection is held meanwhile."""
    if seconds <= 0:
        return job
    ends_at = time.monotonic() + seconds
    with wiring.listener().seat(job.rendering_id) as woken:
        while True:
            if woken is not None:
                woken.clear()
            (job,) = job_of(job_id=job.id)
            remaining = ends_at - time.monotonic()
            if job.state in ENDED or remaining <= 0 or woken is None or wiring.listener().dismissed:
                return job
            connection.close_if_unusable_or_obsolete()  # back to the pool, where there is one
            with wiring.turns().given_up():
                woken.wait(min(LOOK_EVERY, remaining))


@prepared_rows
def job_of(job_id: Any) -> QuerySet[Job]:
    return Job.objects.select_related("rendering").filter(id=job_id).order_by()
