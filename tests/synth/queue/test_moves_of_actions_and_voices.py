"""The same of lists, their lines and voices: every operation against every state, seen by the database's triggers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction

from synth import service, wiring
from synth.errors import StorageUnavailable
from synth.models import ClonedVoice, CurationAction, CurationLine, EngineCardRow, Job
from synth.models.clock import database_now
from synth.models.states import State
from synth.queue.claim import claim_voice
from synth.service import voice_work
from synth.service.endings import Failure, give_back
from synth.service.expiring import sweep_storage
from synth.service.sweeping import sweep
from tenants.errors import Problem
from tests import cards
from tests.moves import Move, MovesMade, allowed, of
from tests.synth.queue.desk import WORKER, order
from tests.world import Member

pytestmark = pytest.mark.django_db
Outcome = CurationLine.Outcome
LINE = {"text": "One.", "format": "wav"}


@pytest.fixture
def owner(moves: MovesMade, world) -> Member:
    cards.publish()
    return world.owner


def drain_without_engines(_: CurationAction) -> None:
    EngineCardRow.objects.all().delete()
    service.drain_actions()


ACTIONS: dict[str, Callable[[CurationAction], object]] = {
    "drain": lambda _: service.drain_actions(),
    "drain_without_engines": drain_without_engines,
    "cancel": service.cancel_action,
    "sweep": lambda _: sweep(),
    "sweep_storage": lambda _: sweep_storage(),
    "warm": lambda action: service.warm(action.tenant.ref, [LINE], actor=service.Actor()),
}


def test_lists_and_their_lines(moves: MovesMade, owner: Member):
    job = order(owner, "One.")
    action = CurationAction.objects.create(kind="warm", tenant=owner.tenant, matched=1)
    line = CurationLine.objects.create(action=action, number=1, tenant=owner.tenant, payload=LINE)
    made: set[Move] = set()
    cases = itertools.product(
        State, (Outcome.WAITING, Outcome.OPEN, Outcome.FAILED), (State.QUEUED, State.FAILED, None)
    )
    for (of_action, of_line, of_job), operation in itertools.product(list(cases), ACTIONS):
        with transaction.atomic():
            put(action, state=of_action, created_at=database_now().replace(year=2020), ended_at=None)
            if action.state in (State.SUCCEEDED, State.FAILED, State.CANCELED):
                put(action, ended_at=database_now().replace(year=2020 if operation == "sweep_storage" else 2099))
            put(line, outcome=of_line, job_id=job.id if of_job else None)
            put(job, state=of_job or State.QUEUED)
            moves.forget()
            ACTIONS[operation](action)
            by_it = moves.made()
            transaction.set_rollback(True)
        assert by_it <= allowed(), (operation, of_action, of_line, of_job)
        made |= by_it
    assert of(CurationAction, made) == of(CurationAction, allowed())
    assert of(CurationLine, made) >= {("waiting", "open"), ("open", "waiting"), ("open", "failed")}


def put(row: CurationAction | CurationLine | Job | ClonedVoice, **fields: Any) -> None:
    type(row)._default_manager.filter(id=row.id).update(**fields)
    for name, value in fields.items():
        setattr(row, name, value)


AUDIO = SimpleNamespace(seconds=5.0, pcm=SimpleNamespace(sample_rate=24_000), format="wav")


def commit(voice: ClonedVoice) -> None:
    voice.fingerprint = "cloned:of-a-test"
    voice_work._commit(voice, AUDIO)  # type: ignore[arg-type]


def delete(voice: ClonedVoice) -> None:
    with suppress(Problem):
        service.delete_voice(voice.tenant.ref, voice.public_id, actor=service.Actor())


def create(voice: ClonedVoice) -> None:
    consent = service.Consent(who="They", when="2026-11-30", wording="Yes.")
    told = service.VoiceOrder(name="new", engine="counting", language="en", transcript="", consent=consent)
    upload = SimpleNamespace(chunks=lambda: iter([b"bytes"]))
    with suppress(Problem):
        service.create_voice(voice.tenant.ref, told, upload, actor=service.Actor())


VOICES: dict[str, Callable[[ClonedVoice], object]] = {
    "claim": lambda _: claim_voice(WORKER),
    "commit": commit,
    "refuse": lambda voice: voice_work._refuse(voice, "test", "for a test"),
    "give_back": lambda voice: give_back(voice, Failure(code="test")),
    "delete": delete,
    "sweep": lambda _: sweep(),
    "create": create,
}


def test_voices(moves: MovesMade, owner: Member, monkeypatch):
    voice = ClonedVoice.objects.create(tenant=owner.tenant, name="a", engine="counting", upload_size=1, attempt=1)
    made: set[Move] = set()
    for state, lapsed, operation in itertools.product(State, [False, True], VOICES):
        with transaction.atomic(), monkeypatch.context() as patched:
            if lapsed and operation == "create":
                patched.setattr(wiring.object_store(), "put", away)
            lease = database_now().replace(year=2020 if lapsed else 2099)
            put(voice, state=state, lease_until=lease, created_at=database_now().replace(year=2020))
            moves.forget()
            VOICES[operation](voice)
            by_it = moves.made()
            transaction.set_rollback(True)
        assert by_it <= allowed(), (operation, state, lapsed)
        made |= by_it
    assert of(ClonedVoice, made) == of(ClonedVoice, allowed())


def away(*_: object) -> None:
    raise StorageUnavailable("away")
