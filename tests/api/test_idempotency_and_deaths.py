"""The process that carries a request out dies, or many ask at once: one has the right, and no work is done twice."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from synth import service
from synth.errors import IdempotencyInProgress, IdempotencyKeyReused, ServiceUnavailable
from synth.models import IdempotentRequest, Job
from synth.models.clock import database_now
from synth.service import KeptAnswer, Repeatable, Undertaking, speaking
from tests.api.caller import Caller
from tests.api.repeating import TEXT, die_before_the_answer_is_kept, speak, told_before
from tests.engines.counting import CountingEngine
from tests.synth.queue.desk import at_once, said, work

pytestmark = pytest.mark.django_db


def wanted(caller: Caller, fingerprint: str = "f") -> Repeatable:
    return Repeatable(tenant=caller.member.ref, key="one", fingerprint=fingerprint)


@pytest.mark.parametrize("cache", ["use", "refresh", "bypass"])
def test_the_next_try_finds_the_job_that_the_dead_one_left(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    first = die_before_the_answer_is_kept(monkeypatch, lambda: speak(owner, cache=cache))
    again = speak(owner, cache=cache)
    assert (again.status_code, told_before(again)) == (202, False)
    assert again.json()["id"] == first.json()["id"]
    assert Job.objects.count() == 1
    assert told_before(speak(owner, cache=cache))


def test_the_next_try_answers_with_what_became_of_that_job(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COUNTING_LOG", str(tmp_path / "runs.jsonl"))
    first = die_before_the_answer_is_kept(monkeypatch, lambda: speak(owner))
    work(CountingEngine())
    again = speak(owner)
    assert (again.status_code, again.json()["cache"], again.json()["id"]) == (200, "miss", first.json()["id"])
    assert (Job.objects.count(), said(tmp_path / "runs.jsonl")) == (1, [TEXT])


def test_the_sweeper_keeps_the_way_to_what_the_dead_one_left(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    first = die_before_the_answer_is_kept(monkeypatch, lambda: speak(owner))
    IdempotentRequest.objects.update(lease_until=database_now() - timedelta(hours=2))
    service.sweep_storage()
    assert speak(owner).json()["id"] == first.json()["id"]
    assert Job.objects.count() == 1


def test_of_two_tries_at_one_moment_the_slower_one_joins(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    first = die_before_the_answer_is_kept(monkeypatch, lambda: speak(owner))
    look, looks = speaking._left_behind, []

    def too_early(visit: service.Visit) -> Job | None:
        looks.append(visit.job_id)
        return look(visit) if len(looks) > 1 else None

    monkeypatch.setattr(speaking, "_left_behind", too_early)
    again = speak(owner)
    assert (again.status_code, again.json()["id"], len(looks)) == (202, first.json()["id"], 2)
    assert Job.objects.count() == 1


def test_who_lost_the_right_keeps_nothing(owner: Caller) -> None:
    slow = service.undertake(wanted(owner), lease=timedelta(seconds=-1))
    quick = service.undertake(wanted(owner))
    assert isinstance(slow, Undertaking)
    assert isinstance(quick, Undertaking)
    assert (slow.id, quick.attempt) == (quick.id, 2)
    service.keep(slow, KeptAnswer(status=500))
    service.let_go(slow, ServiceUnavailable())
    with pytest.raises(IdempotencyInProgress):
        service.undertake(wanted(owner))
    service.keep(quick, KeptAnswer(status=200, body={"a": 1}))
    service.let_go(quick, IdempotencyKeyReused())
    assert service.undertake(wanted(owner)) == KeptAnswer(status=200, body={"a": 1})


@pytest.mark.django_db(transaction=True)
def test_of_fifty_at_once_one_has_the_right(owner: Caller) -> None:
    outcomes = at_once([lambda: service.undertake(wanted(owner))] * 50)
    assert sum(isinstance(outcome, Undertaking) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, IdempotencyInProgress) for outcome in outcomes) == 49


@pytest.mark.django_db(transaction=True)
def test_when_a_lease_is_over_one_of_many_takes_it(owner: Caller) -> None:
    service.undertake(wanted(owner), lease=timedelta(seconds=-1))
    outcomes = at_once([lambda: service.undertake(wanted(owner))] * 20)
    assert [outcome.attempt for outcome in outcomes if isinstance(outcome, Undertaking)] == [2]
    assert sum(isinstance(outcome, IdempotencyInProgress) for outcome in outcomes) == 19
