"""Many workers and many requests at one moment: each row is claimed once, each sentence is opened once."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import connection

from synth.models import Entry, Job, Rendering, Synthesis
from synth.models.states import OPEN
from synth.queue.claim import Worker, claim_rendering
from synth.service import submission
from synth.service.submission import MadeMeanwhile
from tests.synth.queue.desk import at_once, claim, order, said, speak_all, states, work

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def take_all(take, name: str) -> list:
    taken = []
    while (row := take(Worker(name, lease=60))) is not None:
        taken.append(row.id)
    return taken


def test_no_sentence_is_claimed_twice(committed_world):
    for number in range(5):
        order(committed_world.owner, f"Owner {number}. Another {number}. Third {number}.")
        order(committed_world.stranger, f"Stranger {number}. Another {number}.")
    taken = at_once([partial(take_all, claim, f"worker{number}") for number in range(6)])
    ids = [row for rows in taken for row in rows]
    assert (len(ids), len(set(ids))) == (25, 25)
    assert set(Synthesis.objects.values_list("attempt", flat=True)) == {1}


def test_no_rendition_is_claimed_twice(committed_world, engine):
    for number in range(12):
        order(committed_world.owner, f"Sentence {number}.")
    speak_all(engine)
    taken = at_once([partial(take_all, claim_rendering, f"worker{number}") for number in range(4)])
    ids = [row for rows in taken for row in rows]
    assert (len(ids), len(set(ids))) == (12, 12)


def test_equal_requests_at_once_share_one_rendering_and_its_sentences(committed_world, engine, log):
    jobs = at_once([partial(order, committed_world.owner, "One. Two.") for _ in range(16)])
    assert {job.rendering_id for job in jobs} == {Rendering.objects.get().id}
    work(engine)
    assert sorted(said(log)) == ["One.", "Two."]
    assert states(Job) == ["succeeded"] * 16


def test_texts_that_share_sentences_in_any_order_share_their_synthesis(committed_world, engine, log):
    """Two that lock the shared rows in different orders would wait for each other for ever."""
    sentences = [f"The {ordinal} one." for ordinal in ORDINALS]
    rotated = [sentences[at:] + sentences[:at] for at in range(8)]
    texts = [" ".join(way) for turned in rotated for way in (turned, turned[::-1])]
    jobs = at_once([partial(order, committed_world.owner, text) for text in texts])
    assert [job for job in jobs if isinstance(job, Exception)] == []
    assert Synthesis.objects.filter(state__in=OPEN).count() == len(sentences)
    work(engine)
    assert sorted(said(log)) == sorted(sentences)
    assert states(Job) == ["succeeded"] * len(texts)


@pytest.mark.django_db
def test_a_request_that_looked_before_the_end_and_comes_after_it_makes_nothing(world, engine, log):
    order(world.owner, "One.")
    work(engine)
    with pytest.raises(MadeMeanwhile) as made:
        order(world.owner, "One.")
    assert made.value.entry == Entry.objects.get(kind="rendition")
    assert (Rendering.objects.count(), Job.objects.count(), len(said(log))) == (1, 1, 1)


def test_a_sentence_that_ends_while_it_is_being_opened_is_not_said_again(committed_world, engine, log, monkeypatch):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets nobody else write between a submission's look and its lock")
    real = submission.open_syntheses

    def finish_first(*args, **options):
        monkeypatch.setattr(submission, "open_syntheses", real)
        at_once([partial(work, engine)])
        return real(*args, **options)

    order(committed_world.owner, "Shared. One.")
    monkeypatch.setattr(submission, "open_syntheses", finish_first)
    job = order(committed_world.owner, "Shared. Two.")
    work(engine)
    assert sorted(said(log)) == ["One.", "Shared.", "Two."]
    job.refresh_from_db()
    assert job.state == "succeeded"


def test_a_rendering_whose_last_sentence_ends_while_it_is_being_opened_is_rendered(
    committed_world, engine, log, monkeypatch
):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets nobody else write between a submission's look and its lock")
    real = submission.open_syntheses

    def finish_first(*args, **options):
        monkeypatch.setattr(submission, "open_syntheses", real)
        at_once([partial(work, engine)])
        return real(*args, **options)

    order(committed_world.owner, "Shared.")
    monkeypatch.setattr(submission, "open_syntheses", finish_first)
    order(committed_world.owner, "Shared.", output="flac")
    assert states(Synthesis) == ["succeeded"]
    work(engine)
    assert (said(log), states(Job)) == (["Shared."], ["succeeded"] * 2)
