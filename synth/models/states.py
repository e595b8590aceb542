"""The states of all work. `moves.py` says which may follow on which."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class State(TextChoices):
    """WAITING is a rendering whose sentences are not all in; QUEUED waits for a worker, RUNNING has one."""

    WAITING = "waiting", _("waiting for sentences")
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")
    CANCELED = "canceled", _("canceled")


OPEN = (State.WAITING, State.QUEUED, State.RUNNING)
CLAIMABLE = (State.QUEUED, State.RUNNING)  # the latter once its lease has run out
ENDED = (State.SUCCEEDED, State.FAILED, State.CANCELED)


class Priority:
    """The classes of the queue, the most urgent first."""

    INTERACTIVE = 0
    BATCH = 1
    REWARM = 2
