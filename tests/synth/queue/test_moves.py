"""Every operation against every state: rows move only as MOVES allows, and what has ended never moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction

from synth.models import Entry, Job, Rendering, RenderingPart, Synthesis
from synth.models.clock import database_now
from synth.models.states import ENDED, MOVES, State
from synth.queue.claim import claim_rendering
from synth.service import endings
from synth.service.endings import Failure
from synth.service.rendering import _remake, render
from synth.service.sweeping import _fail_unclaimed, sweep
from synth.service.synthesis import synthesize
from tests.synth.queue.desk import WORKER, claim, order, spec

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
    "fail_unclaimed": lambda sentence, *_: _fail_unclaimed(sentence, FAILURE),
    "rendering_succeeded": lambda _, rendering, __: endings.rendering_succeeded(rendering, dict(RESULT), None),
    "give_back_rendering": lambda _, rendering, __: endings.give_back(rendering, FAILURE),
    "rendering_failed": lambda _, rendering, __: endings.rendering_failed(rendering, FAILURE),
    "remake": lambda _, rendering, __: _remake(rendering, spec("One."), {rendering.parts.get().key}),
    "fail_renderings": fail_all,
    "hand_on": hand_on,
    "cancel": lambda _, __, job: endings.cancel_job(job.rendering.tenant.ref, job.id),
    "sweep": lambda *_: sweep(),
}


def put_into(row: Synthesis | Rendering | Job, state: State, **fields: object) -> None:
    fields["state"] = state
    type(row).objects.filter(id=row.id).update(**fields)
    for name, value in fields.items():
        setattr(row, name, value)


def states_of(rows: tuple[Synthesis, Rendering, Job]) -> list[str]:
    return [type(row).objects.values_list("state", flat=True).get(id=row.id) for row in rows]


@pytest.fixture
def rows(world) -> tuple[Synthesis, Rendering, Job]:
    """A job on a rendering of one sentence, whose claims have the attempt number 1."""
    job = order(world.owner, "One.")
    Synthesis.objects.update(attempt=1)
    Rendering.objects.update(attempt=1)
    return Synthesis.objects.get(), Rendering.objects.get(), job


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("lapsed", [False, True])
def test_no_operation_makes_a_move_that_is_not_allowed(rows, operation, lapsed):
    lease = database_now().replace(year=2020 if lapsed else 2099)
    digests = ("", "e" * 64)
    cases = [(a, b, digest) for a in State for b in State for digest in digests]
    for of_sentence, of_rendering, digest in cases:
        with transaction.atomic():
            put_into(rows[0], of_sentence, lease_until=lease)
            put_into(rows[1], of_rendering, lease_until=lease)
            put_into(rows[2], of_rendering if of_rendering in ENDED else State.QUEUED)
            RenderingPart.objects.update(digest=digest, synthesis=rows[0])
            OPERATIONS[operation](*rows)
            after = states_of(rows)
            transaction.set_rollback(True)
        for row, now in zip(rows, after, strict=True):
            before = State(row.state)
            allowed = MOVES[before] | {before}
            if isinstance(row, Job):
                allowed = allowed | MOVES[State.RUNNING] - {State.WAITING}  # a job does not tell QUEUED from RUNNING
                allowed = frozenset({before}) if before in ENDED else allowed
            assert now in allowed, (type(row).__name__, before, now, of_sentence, of_rendering, digest)


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
