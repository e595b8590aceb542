"""Tells callbacks how jobs ended: notes an event for each, in the transaction that ends them. endings.py calls it."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from synth.models import EventType, Job
from synth.models.prepared import prepared_rows
from synth.models.states import OPEN, State
from synth.service.webhooks.events import note_event
from tenants.types import TenantRef

KINDS = {
    State.SUCCEEDED: EventType.SPEECH_SUCCEEDED,
    State.FAILED: EventType.SPEECH_FAILED,
    State.CANCELED: EventType.SPEECH_CANCELED,
}


def jobs_to_tell(rendering_ids: Sequence[UUID]) -> list[Job]:
    """The open jobs of these renderings whose callback waits for their end.

    Asked under the renderings' locks, before the jobs are ended: none can be added or canceled in between.
    """
    if len(rendering_ids) == 1:  # as nearly always
        return _of_rendering(rendering_id=rendering_ids[0])
    return list(_open_jobs().filter(rendering_id__in=rendering_ids))


def tell_of(jobs: Iterable[Job], state: State, *, error_code: str = "") -> None:
    """These jobs end so in this transaction; those without a callback are nobody's business."""
    for job in jobs:
        if job.callback_id is not None:
            note_event(
                TenantRef(job.tenant_id),
                KINDS[state],
                job.public_id,
                _data(job, state, error_code),
                endpoint_id=job.callback_id,
                url=job.callback_url,
            )


def _data(job: Job, state: State, error_code: str) -> dict[str, Any]:
    """Small: what the sound is and its URL are added when it is sent."""
    return {
        "id": job.public_id,
        "object": "speech",
        "status": state,
        "engine": job.engine,
        "voice": job.voice,
        "language": job.language,
        "category": job.category,
        "characters": job.characters,
        "metadata": job.metadata,
        "request_id": job.request_id,
        "error": {"code": error_code} if error_code else None,
    }


def _open_jobs() -> QuerySet[Job]:
    return Job.objects.filter(state__in=OPEN, callback__isnull=False).order_by()


@prepared_rows
def _of_rendering(rendering_id: Any) -> QuerySet[Job]:
    return _open_jobs().filter(rendering_id=rendering_id)
