"""A rendition that is to last so long does, whatever its sentences; those are shared with texts of any duration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from synth.keys import rendition_key
from synth.models import Entry, Job
from synth.service.submission import submit
from synth.spec import SpeechRequest
from tests.synth.queue.desk import order, said, spec, work

pytestmark = pytest.mark.django_db
TEXT = "Good morning to all of you. How are you today?"


def stretched(member, seconds: float) -> Job:
    whole = spec(TEXT)
    whole = replace(whole, output=replace(whole.output, duration=seconds))
    request = SpeechRequest(spec=whole)
    return submit(member.caller, request, key=rendition_key(whole), max_units=400, request_id="test")


def test_it_lasts_as_long_as_asked_and_needs_no_engine_again(world, engine, log):
    order(world.owner, TEXT)
    work(engine)
    spoken = len(said(log))
    normal = Entry.objects.get(kind="rendition").duration
    job = stretched(world.owner, 5.5)
    work(engine)
    job.refresh_from_db()
    assert (job.state, len(said(log))) == ("succeeded", spoken)
    assert normal < 5.4
    assert Entry.objects.get(id=job.rendering.entry_id).duration == pytest.approx(5.5, abs=0.001)


def test_what_cannot_be_stretched_so_far_fails_for_good(world, engine):
    job = stretched(world.owner, 60.0)
    work(engine)
    job.refresh_from_db()
    assert (job.state, job.error_code) == ("failed", "duration_out_of_reach")
    assert job.rendering.error_repeats
