"""Cancelling detaches one job; work stops only when nobody else waits for it, and never against its end."""

from __future__ import annotations

from functools import partial

import pytest

from synth.models import Entry, Job, Rendering, Synthesis
from synth.queue.claim import claim_rendering
from synth.service.endings import cancel_job
from synth.service.rendering import render
from synth.service.synthesis import synthesize
from tests.synth.queue.desk import WORKER, at_once, claim, order, said, speak_all, speak_one, states, work

ROUNDS = 8


def cancel(job: Job) -> str:
    return cancel_job(job.rendering.tenant.ref, job.id).state


@pytest.mark.django_db
class TestOneAfterAnother:
    def test_one_of_two_jobs_leaves_the_other_its_work(self, world, engine):
        first, second = order(world.owner, "One."), order(world.owner, "One.")
        assert cancel(first) == "canceled"
        work(engine)
        second.refresh_from_db()
        assert (second.state, states(Job)) == ("succeeded", ["canceled", "succeeded"])

    def test_the_last_job_takes_the_rendering_and_the_queued_sentences_with_it(self, world, engine, log):
        cancel(order(world.owner, "One. Two."))
        assert (states(Rendering), states(Synthesis)) == (["canceled"], ["canceled"] * 2)
        work(engine)
        assert said(log) == []

    def test_a_sentence_that_runs_already_is_finished_and_kept(self, world, engine):
        job = order(world.owner, "One. Two.")
        running = claim()
        cancel(job)
        assert states(Synthesis) == ["canceled", "running"]
        synthesize(running, engine)
        assert (states(Synthesis), states(Rendering)) == (["canceled", "succeeded"], ["canceled"])
        assert Entry.objects.get().text == running.segment["text"]

    def test_a_sentence_that_another_text_needs_stays(self, world, engine, log):
        job = order(world.owner, "One. Two.")
        order(world.owner, "Two. Three.")
        cancel(job)
        work(engine)
        assert sorted(said(log)) == ["Three.", "Two."]

    def test_what_has_ended_stays_as_it_ended(self, world, engine):
        job = order(world.owner, "One.")
        work(engine)
        assert cancel(job) == "succeeded"

    def test_a_rendition_cancelled_while_it_is_made_is_thrown_away(self, world, engine):
        job = order(world.owner, "One.")
        speak_one(engine)
        running = claim_rendering(WORKER)
        cancel(job)
        render(running)
        assert (states(Job), states(Rendering)) == (["canceled"], ["canceled"])
        assert not Entry.objects.filter(kind="rendition").exists()

    def test_asking_again_after_a_cancel_starts_anew(self, world, engine):
        cancel(order(world.owner, "One."))
        order(world.owner, "One.")
        work(engine)
        assert states(Job) == ["canceled", "succeeded"]

    def test_a_strangers_job_cannot_be_cancelled(self, world):
        job = order(world.owner, "One.")
        assert cancel_job(world.stranger.ref, job.id) is None
        assert states(Job) == ["queued"]


def test_a_cancel_that_races_with_the_end_of_a_rendition_leaves_one_of_both(committed_world, engine):
    for number in range(ROUNDS):
        job = order(committed_world.owner, f"Sentence {number}.")
        speak_all(engine)
        running = claim_rendering(WORKER)
        results = at_once([partial(render, running), partial(cancel, job)])
        assert not [result for result in results if isinstance(result, Exception)]
        job.refresh_from_db()
        assert (job.state, job.rendering.state) in {("succeeded", "succeeded"), ("canceled", "canceled")}


def test_a_cancel_that_races_with_the_end_of_a_sentence_leaves_nothing_open(committed_world, engine):
    for number in range(ROUNDS):
        job = order(committed_world.owner, f"One {number}. Two {number}. fail-permanently {number}.")
        calls = [partial(synthesize, claim(), engine) for _ in range(3)]
        results = at_once([*calls, partial(cancel, job)])
        assert not [result for result in results if isinstance(result, Exception)]
        job.refresh_from_db()
        assert (job.state, job.rendering.state) in {("failed", "failed"), ("canceled", "canceled")}
    assert not Synthesis.objects.filter(state__in=["queued", "running"]).exists()


def test_a_cancel_that_races_with_joiners_strands_none_of_them(committed_world, engine):
    for number in range(ROUNDS):
        text = f"One {number}. Two {number}."
        last = order(committed_world.owner, text)
        results = at_once(
            [
                partial(cancel, last),
                partial(order, committed_world.owner, text),
                partial(order, committed_world.owner, f"Two {number}. Three {number}."),
            ]
        )
        assert not [result for result in results if isinstance(result, Exception)]
    work(engine)
    assert states(Job) == ["canceled"] * ROUNDS + ["succeeded"] * 2 * ROUNDS
