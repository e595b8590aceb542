"""A claim is a lease, its attempt number fences the result, and after three attempts there is an end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from synth.models import Entry, Job, Rendering, Synthesis
from synth.models.clock import database_now
from synth.queue.claim import MAX_ATTEMPTS, claim_rendering, renew
from synth.service.rendering import render
from synth.service.synthesis import synthesize
from tests.synth.queue.desk import OTHER, WORKER, claim, order, render_all, said, speak_one, states, work

pytestmark = pytest.mark.django_db


def due_now(row: Synthesis | Rendering) -> None:
    type(row).objects.filter(id=row.id).update(not_before=database_now() - timedelta(seconds=1))


def test_a_claimed_sentence_is_not_claimed_again_while_its_lease_lasts(world):
    order(world.owner, "One.")
    assert claim() is not None
    assert claim(OTHER) is None


def test_a_lease_that_ran_out_is_claimed_by_another_worker(world, lapse):
    order(world.owner, "One.")
    lapse(claim())
    taken = claim(OTHER)
    assert (taken.attempt, taken.worker) == (2, "other")


def test_renewing_holds_a_lease_and_fails_once_it_is_lost(world, lapse):
    order(world.owner, "One.")
    held = claim()
    lapse(held)
    assert renew(held, 15)
    assert claim(OTHER) is None
    lapse(held)
    assert claim(OTHER) is not None
    assert not renew(held, 15)


def test_a_late_sentence_is_thrown_away(world, engine, lapse, log):
    order(world.owner, "One.")
    late = claim()
    lapse(late)
    current = claim(OTHER)
    synthesize(late, engine)
    row = Synthesis.objects.get()
    assert (row.state, row.attempt, row.digest, Entry.objects.count()) == ("running", 2, "", 0)
    synthesize(current, engine)
    render_all()
    assert (states(Job), Entry.objects.filter(kind="segment").count(), len(said(log))) == (["succeeded"], 1, 2)


def test_a_late_rendition_is_thrown_away(world, engine, lapse):
    order(world.owner, "One.")
    speak_one(engine)
    late = claim_rendering(WORKER)
    lapse(late)
    current = claim_rendering(OTHER)
    render(late)
    assert (states(Job), Entry.objects.filter(kind="rendition").count()) == (["queued"], 0)
    render(current)
    assert (states(Job), Entry.objects.filter(kind="rendition").count()) == (["succeeded"], 1)


def test_a_late_failure_changes_nothing(world, engine, lapse):
    order(world.owner, "One fail-permanently.")
    late = claim()
    lapse(late)
    claim(OTHER)
    synthesize(late, engine)
    assert (states(Synthesis), states(Job)) == (["running"], ["queued"])


def test_a_sentence_whose_workers_die_fails_after_three_attempts(world, engine, lapse, log):
    order(world.owner, "One.")
    for _ in range(MAX_ATTEMPTS):
        lapse(claim())
    failed = speak_one(engine)
    job = Job.objects.get()
    assert (failed.state, job.state, job.error_code, said(log)) == ("failed", "failed", "worker_lost", [])
    assert not job.rendering.error_repeats


def test_a_rendition_whose_workers_die_fails_after_three_attempts(world, engine, lapse):
    order(world.owner, "One.")
    speak_one(engine)
    for _ in range(MAX_ATTEMPTS):
        lapse(claim_rendering(WORKER))
    render_all()
    assert (states(Job), Job.objects.get().error_code) == (["failed"], "worker_lost")


def test_what_may_pass_is_tried_three_times_with_growing_pauses(world, engine, log):
    order(world.owner, "One fail-transiently.")
    pauses = []
    for _ in range(MAX_ATTEMPTS - 1):
        before = database_now()
        row = speak_one(engine)
        pauses.append((row.not_before - before).total_seconds())
        assert (row.state, claim()) == ("queued", None)
        due_now(row)
    assert pauses[0] == pytest.approx(1, abs=0.9)
    assert pauses[1] == pytest.approx(4, abs=2.9)
    assert speak_one(engine).state == "failed"
    job = Job.objects.get()
    assert (job.error_code, job.rendering.error_repeats, len(said(log))) == ("told_to_fail_for_now", False, 3)


def test_what_would_fail_again_fails_at_once_and_every_job_with_it(world, engine, log):
    jobs = [order(world.owner, "One fail-permanently. Two.") for _ in range(3)]
    order(world.owner, "One fail-permanently. Three.")
    other = order(world.owner, "Two. Three.")
    work(engine)
    ended = [Job.objects.get(id=job.id) for job in jobs]
    assert {(job.state, job.error_code) for job in ended} == {("failed", "told_to_fail")}
    assert states(Job) == ["failed"] * 4 + ["succeeded"]
    assert Job.objects.get(id=other.id).state == "succeeded"
    assert said(log).count("One fail-permanently.") == 1


def test_a_silent_sentence_is_never_stored(world, engine):
    order(world.owner, "Say silence-please.")
    work(engine)
    assert (Entry.objects.count(), states(Job)) == (0, ["failed"])
    assert Job.objects.get().rendering.error_repeats  # the counting engine gives equal output for equal input


def test_storage_that_is_away_is_tried_again(world, engine, monkeypatch):
    from synth import wiring
    from synth.errors import StorageUnavailable

    store = wiring.object_store()
    order(world.owner, "One.")
    with monkeypatch.context() as patched:
        patched.setattr(type(store), "put", _raise(StorageUnavailable("away")))
        row = speak_one(engine)
    assert (row.state, row.error_code) == ("queued", "storage_unavailable")
    due_now(row)
    work(engine)
    assert states(Job) == ["succeeded"]


def test_a_surprise_gives_the_work_back_at_once(world, engine, monkeypatch):
    from synth import wiring

    store = wiring.object_store()
    order(world.owner, "One.")
    with monkeypatch.context() as patched:
        patched.setattr(type(store), "put", _raise(ZeroDivisionError()))
        sentence = speak_one(engine)
    assert (sentence.state, sentence.error_code) == ("queued", "internal_error")
    due_now(sentence)
    speak_one(engine)
    with monkeypatch.context() as patched:
        patched.setattr(type(store), "get", _raise(ZeroDivisionError()))
        render_all()
    rendering = Rendering.objects.get()
    assert (rendering.state, rendering.error_code) == ("queued", "internal_error")
    due_now(rendering)
    render_all()
    assert states(Job) == ["succeeded"]


def _raise(error: BaseException):
    def broken(*_args, **_options):
        raise error

    return broken
