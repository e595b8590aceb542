"""Every operation against every state: the table of moves holds exactly those that the code makes.

Triggers of the database note each move, so that one in the midst of an operation is seen, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction

from synth import cards
from synth.models import Entry, Job, Rendering, RenderingPart, Synthesis
from synth.models.clock import database_now
from synth.models.states import ENDED, State
from synth.queue.claim import claim_rendering
from synth.service import endings, erasing
from synth.service.endings import Failure
from synth.service.expiring import sweep_storage
from synth.service.rendering import _remake, render
from synth.service.stuck import fail_unclaimed
from synth.service.sweeping import sweep
from synth.service.synthesis import synthesize
from tests.cards import COUNTING
from tests.moves import Move, MovesMade, allowed, of
from tests.synth.queue.desk import WORKER, claim, order, spec
from tests.world import World

pytestmark = pytest.mark.django_db
FAILURE = Failure(code="test")
RESULT = {
    "digest": "d" * 64,
    "format": "wav",
    "media_type": "audio/wav",
    "size": 1,
    "duration": 1.0,
    "sample_rate": 8000,
}

Operation = Callable[[Synthesis, Rendering, Job], object]


def succeed_synthesis(sentence: Synthesis, *_: object) -> object:
    return endings.synthesis_succeeded(sentence, digest="d" * 64, duration=1, seconds=1, entry=None)


def fail_all(_: Synthesis, rendering: Rendering, __: Job) -> object:
    with transaction.atomic():
        return endings.fail_renderings([rendering], FAILURE, database_now())


def hand_on(_: Synthesis, rendering: Rendering, __: Job) -> object:
    with transaction.atomic():
        return endings.hand_on([rendering.id])


OPERATIONS: dict[str, Operation] = {
    "claim": lambda *_: claim(),
    "claim_rendering": lambda *_: claim_rendering(WORKER),
    "synthesis_succeeded": succeed_synthesis,
    "give_back_synthesis": lambda sentence, *_: endings.give_back(sentence, FAILURE),
    "synthesis_failed": lambda sentence, *_: endings.synthesis_failed(sentence, FAILURE),
    "fail_unclaimed": lambda sentence, *_: fail_unclaimed(sentence, FAILURE),
    "rendering_succeeded": lambda _, rendering, __: endings.rendering_succeeded(rendering, dict(RESULT), None),
    "give_back_rendering": lambda _, rendering, __: endings.give_back(rendering, FAILURE),
    "rendering_failed": lambda _, rendering, __: endings.rendering_failed(rendering, FAILURE),
    "remake": lambda _, rendering, __: _remake(rendering, spec("One."), {rendering.parts.get().key}),
    "fail_renderings": fail_all,
    "hand_on": hand_on,
    "cancel": lambda _, __, job: endings.cancel_job(job.rendering.tenant.ref, job.id),
    "erase_voice": lambda _, rendering, __: erasing._fail_open_work(rendering.tenant.ref, "fingerprint-of-counting_a"),
}
SWEEPS = {"sweep": sweep, "sweep_storage": sweep_storage}
OF_SENTENCES = (State.QUEUED, State.RUNNING, *ENDED)
# That a job does not fit its rendering matters to the sweeper alone.
JOB_STATES = (State.QUEUED, State.CANCELED)
DIGESTS = ("", "e" * 64)


def put_into(row: Synthesis | Rendering | Job, state: State, **fields: object) -> None:
    fields["state"] = state
    type(row).objects.filter(id=row.id).update(**fields)
    for name, value in fields.items():
        setattr(row, name, value)


def states_of(rows: tuple[Synthesis, Rendering, Job]) -> list[str]:
    return [type(row).objects.values_list("state", flat=True).get(id=row.id) for row in rows]


@pytest.fixture
def rows(moves, world) -> tuple[Synthesis, Rendering, Job]:
    """A job on a rendering of one sentence, whose claims have the attempt number 1."""
    cards.publish(COUNTING)
    job = order(world.owner, "One.")
    Synthesis.objects.update(attempt=1)
    Rendering.objects.update(attempt=1)
    return Synthesis.objects.get(), Rendering.objects.get(), job


def test_the_table_allows_what_the_operations_do_and_nothing_else(moves, rows, world):
    """A table that allowed more would let a mistake pass."""
    by_operation = {operation: made_by(operation, moves, rows) for operation in OPERATIONS}
    by_operation |= {name: made_by_sweeping(name, moves, world) for name in SWEEPS}
    for operation, by_it in by_operation.items():
        assert by_it <= allowed(), operation
    made = set().union(*by_operation.values())
    for machine in (Synthesis, Rendering, Job):
        assert of(machine, made) == of(machine, allowed())


@pytest.mark.parametrize("operation", ["claim", "claim_rendering", "fail_unclaimed"])
def test_neither_do_those_that_take_lapsed_leases_make_another_move(moves, rows, operation):
    assert made_by(operation, moves, rows, lapsed=True) <= allowed()


def test_neither_does_the_sweeper_where_leases_have_lapsed(moves, rows, world):
    assert made_by_sweeping("sweep", moves, world, lapsed=True) <= allowed()


def made_by(operation: str, moves: MovesMade, rows, *, lapsed: bool = False) -> set[Move]:
    """All moves of an operation, from every pair of states."""
    lease = database_now().replace(year=2020 if lapsed else 2099)
    long_ago = database_now() - timedelta(hours=1)
    made: set[Move] = set()
    for states in itertools.product(OF_SENTENCES, State, JOB_STATES[:1], DIGESTS):
        with transaction.atomic():
            put_all_into(rows, *states, lease_until=lease, created_at=long_ago)
            moves.forget()
            OPERATIONS[operation](*rows)
            made |= moves.made()
            transaction.set_rollback(True)
    return made


def made_by_sweeping(name: str, moves: MovesMade, world: World, *, lapsed: bool = False) -> set[Move]:
    """All moves of one round over rows in every combination of states at once."""
    lease = database_now().replace(year=2020 if lapsed else 2099)
    long_ago = database_now() - timedelta(hours=1)
    with transaction.atomic():
        for number, states in enumerate(itertools.product(OF_SENTENCES, State, JOB_STATES, DIGESTS)):
            job = order(world.owner, f"Number {number}.")
            sentence = Synthesis.objects.get(parts__rendering=job.rendering)
            put_all_into((sentence, job.rendering, job), *states, lease_until=lease, created_at=long_ago, attempt=1)
        moves.forget()
        SWEEPS[name]()
        made = moves.made()
        transaction.set_rollback(True)
    return made


def put_all_into(rows, of_sentence: State, of_rendering: State, of_job: State, digest: str, **fields: object) -> None:
    sentence, rendering, job = rows
    put_into(sentence, of_sentence, **fields)
    put_into(rendering, of_rendering, **fields)
    put_into(job, of_job)
    RenderingPart.objects.filter(rendering=rendering).update(digest=digest, synthesis=sentence)


@pytest.mark.parametrize("state", ENDED)
def test_doing_work_of_an_ended_row_changes_nothing(rows, engine, state):
    sentence, rendering, job = rows
    put_into(sentence, state)
    put_into(rendering, state)
    put_into(job, state)
    synthesize(sentence, engine)
    RenderingPart.objects.update(digest="e" * 64)
    render(rendering)
    assert set(states_of(rows)) == {state}
    assert not Entry.objects.exists()
