"""What an answer that is given again costs, and that its sound can be heard."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from prometheus_client import generate_latest

from synth import service, wiring
from synth.keys import object_name
from synth.metrics import Repetition
from synth.models import DiscardedObject, Entry, IdempotentRequest
from synth.models.clock import database_now
from synth.service.object_sweep import MARGIN, discard
from tenants import service as tenant_service
from tests.api.caller import Caller
from tests.api.repeating import TEXT, die_before_the_answer_is_kept, speak, told_before
from tests.engines.counting import CountingEngine
from tests.finished import finish
from tests.metrics.scraping import parse, value
from tests.synth.queue.desk import said, work

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("delivery", ["url", "binary"])
def test_sound_that_storage_lost_is_made_again(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, delivery: str
) -> None:
    monkeypatch.setenv("COUNTING_LOG", str(tmp_path / "runs.jsonl"))
    engine = CountingEngine()
    done = finish(owner.member, {"text": TEXT})
    speak(owner, delivery=delivery)
    wiring.object_store().delete(object_name(owner.member.ref, done.digest, "mp3"))

    def ask() -> Any:
        try:
            return speak(owner, delivery=delivery)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask)
        while not asked.done():
            work(engine)
    again = asked.result()
    assert (again.status_code, told_before(again)) == (200, True)
    digest = again.json()["sha256"] if delivery == "url" else again["ETag"].strip('"')
    assert digest == Entry.objects.get(kind=Entry.Kind.RENDITION).digest != done.digest
    assert len(said(tmp_path / "runs.jsonl")) == 1


def test_an_object_that_nothing_names_any_more_outlives_its_new_url(owner: Caller, settings: Any) -> None:
    settings.REFRAIN = {**settings.REFRAIN, "JOB_AUDIO_TTL": 0, "URL_TTL": 3600}
    done = finish(owner.member, {"text": TEXT})
    speak(owner)
    discard(owner.member.ref, [(done.digest, "mp3")])
    DiscardedObject.objects.update(not_before=database_now() + timedelta(minutes=1))
    assert told_before(speak(owner))
    left = DiscardedObject.objects.get().not_before - database_now()
    assert timedelta(seconds=3590) < left - MARGIN <= timedelta(seconds=3600)


def test_what_is_to_be_deleted_now_is_not_held_by_a_new_url(owner: Caller) -> None:
    done = finish(owner.member, {"text": TEXT})
    speak(owner)
    discard(owner.member.ref, [(done.digest, "mp3")])
    due = database_now() - timedelta(seconds=1)
    DiscardedObject.objects.update(not_before=due)
    speak(owner)
    assert DiscardedObject.objects.get().not_before == due


@pytest.mark.any_database
@pytest.mark.django_db(transaction=True)
def test_an_answer_given_again_counts_for_the_rate_limit(owner: Caller) -> None:
    tenant_service.limit_tenant(owner.member.tenant, rate=0.01, burst=3)
    answers = [speak(owner) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [202, 202, 202, 429]
    assert [";r=2;" in answers[0]["RateLimit"], ";r=0;" in answers[2]["RateLimit"]] == [True, True]


@pytest.mark.django_db(transaction=True)
def test_an_answer_given_again_is_no_usage(owner: Caller) -> None:
    finish(owner.member, {"text": TEXT})
    owner.speak(text=TEXT)
    service.drain_usage()
    before = owner.get("/v1/usage").json()
    for _ in range(3):
        speak(owner)
    service.drain_usage()
    after = owner.get("/v1/usage").json()
    assert len(after["results"]) == len(before["results"]) + 1


def test_each_outcome_is_counted(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def counts() -> list[float]:
        samples = parse(generate_latest().decode())
        return [value(samples, "refrain_idempotent_requests_total", outcome=outcome) for outcome in Repetition]

    before = counts()
    die_before_the_answer_is_kept(monkeypatch, lambda: speak(owner))  # first
    speak(owner)  # resumed
    speak(owner)  # replayed
    speak(owner, text="Something else.")  # reused
    IdempotentRequest.objects.update(status=None)
    speak(owner)  # in progress
    assert [now - then for now, then in zip(counts(), before, strict=True)] == [1] * len(Repetition)
