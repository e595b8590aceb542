"""When each key was last used: noted on each request without SQL, written by a thread once a minute.

Authentication and the speech door call `note`. A process that is killed loses at most its last minute.
"""

import os
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from tenants import recorder
from tenants.models import ApiKey


class Recorder(recorder.Recorder[UUID, datetime]):
    """Writes each key's time at most once per `interval` seconds, whoever else writes it."""

    what = "last-used"

    def __init__(self, *, interval: float = 60.0) -> None:
        super().__init__(interval=interval)

    def note(self, key_id: UUID) -> None:
        """Remember that this key was used now. Cheap, and never raises."""
        self.add(key_id, timezone.now())

    def write(self, notes: dict[UUID, datetime]) -> None:
        due = Q(last_used_at=None) | Q(last_used_at__lte=timezone.now() - timedelta(seconds=self.interval))
        rows = [ApiKey(id=key_id, last_used_at=used_at) for key_id, used_at in notes.items()]
        ApiKey.objects.filter(due).bulk_update(rows, ["last_used_at"])


_recorder = Recorder()
os.register_at_fork(after_in_child=_recorder.reset)
note = _recorder.note
