"""Every state machine, and the moves that are allowed in it. What stands on no left side is the end.

Code makes a move by an UPDATE that names the state it comes from; tests watch the tables, and fail at any other move.
"""

from django.db.models import Model

from synth.models.curation import CurationAction, CurationLine
from synth.models.job import Job
from synth.models.rendering import Rendering
from synth.models.states import State
from synth.models.synthesis import Synthesis
from synth.models.voice import ClonedVoice
from synth.models.webhook import WebhookDelivery

Moves = dict[str, frozenset[str]]

WAITING, QUEUED, RUNNING = State.WAITING, State.QUEUED, State.RUNNING
SUCCEEDED, FAILED, CANCELED = State.SUCCEEDED, State.FAILED, State.CANCELED
Outcome = CurationLine.Outcome

MOVES: dict[type[Model], Moves] = {
    Synthesis: {
        QUEUED: frozenset({RUNNING, FAILED, CANCELED}),
        # Back: given back at a failure that may pass. It is not canceled any more: its sound will be asked for again.
        RUNNING: frozenset({QUEUED, SUCCEEDED, FAILED}),
    },
    Rendering: {
        WAITING: frozenset({QUEUED, FAILED, CANCELED}),
        QUEUED: frozenset({RUNNING, FAILED, CANCELED}),
        # Back to WAITING: a stored sentence was lost.
        RUNNING: frozenset({QUEUED, WAITING, SUCCEEDED, FAILED, CANCELED}),
    },
    # A job does not tell whether anybody is at it: its rendering and sentences do.
    Job: {QUEUED: frozenset({SUCCEEDED, FAILED, CANCELED})},
    CurationAction: {
        WAITING: frozenset({QUEUED, FAILED, CANCELED}),
        QUEUED: frozenset({RUNNING, SUCCEEDED, CANCELED}),
        RUNNING: frozenset({SUCCEEDED, CANCELED}),
    },
    CurationLine: {
        Outcome.WAITING: frozenset({Outcome.OPEN, Outcome.CANCELED}),
        # Back: no engine had told of itself yet.
        Outcome.OPEN: frozenset({Outcome.WAITING, Outcome.DONE, Outcome.CACHED, Outcome.FAILED, Outcome.CANCELED}),
    },
    # Deleted is CANCELED, also of one that was ready or refused.
    ClonedVoice: {
        WAITING: frozenset({QUEUED, CANCELED}),
        QUEUED: frozenset({RUNNING, CANCELED}),
        RUNNING: frozenset({QUEUED, SUCCEEDED, FAILED, CANCELED}),
        SUCCEEDED: frozenset({CANCELED}),
        FAILED: frozenset({CANCELED}),
    },
    # Sent again by hand is QUEUED, whatever it had come to.
    WebhookDelivery: {
        QUEUED: frozenset({RUNNING, CANCELED}),
        RUNNING: frozenset({QUEUED, SUCCEEDED, FAILED, CANCELED}),
        SUCCEEDED: frozenset({QUEUED}),
        FAILED: frozenset({QUEUED}),
        CANCELED: frozenset({QUEUED}),
    },
}


def column_of(machine: type[Model]) -> str:
    return "outcome" if machine is CurationLine else "state"
