"""Ends what was ordered of the cache, and tells its tenant of a refresh. making.py and curation.py call it."""

from django.db import transaction

from synth.models import CurationAction, EventType
from synth.models.clock import database_now
from synth.models.states import OPEN
from synth.service.events import note_event
from tenants.types import TenantRef

TOLD = (CurationAction.Kind.REFRESH, CurationAction.Kind.MODEL_CHANGE)


@transaction.atomic
def end_action(action: CurationAction, state: str) -> bool:
    """False when it had ended before."""
    still_open = CurationAction.objects.filter(id=action.id, state__in=OPEN)
    if not still_open.update(state=state, ended_at=database_now(), lease_until=None):
        return False
    action.refresh_from_db()
    if action.kind in TOLD and action.tenant_id is not None:  # an operator's is over all tenants
        data = {
            "id": action.public_id,
            "status": action.state,
            "href": f"/v1/cache/actions/{action.public_id}",
            "matched": action.matched,
            "done": action.done,
            "failed": action.failed,
        }
        note_event(TenantRef(action.tenant_id), EventType.CACHE_REFRESHED, action.public_id, data)
    return True
