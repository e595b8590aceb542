"""Purges, refreshes and work at one moment: nothing waits for ever, and nothing purged is served afterwards."""

from __future__ import annotations

from django.db import connection

from synth import service
from synth.models import Entry, Rendering, Synthesis
from synth.models.states import OPEN
from synth.service import Actor, EntryFilter, Selection
from synth.service.curation import Kind
from tests.engines.counting import CountingEngine
from tests.synth.curation.conftest import Speaker
from tests.synth.queue.desk import at_once, order, work

TEXTS = [f"Shared sentence. Sentence {number}. Shared ending." for number in range(6)]


def test_all_at_once(owner: Speaker, engine: CountingEngine) -> None:
    for text in TEXTS[:3]:
        owner.speak(text)
    everything = Selection(filter=EntryFilter(text_contains="sentence"))

    def curate(kind: str) -> None:
        service.curate(kind, everything, tenant=owner.member.ref, actor=Actor(), expected=1000)

    def speak() -> None:
        for text in TEXTS:
            order(owner.member, text)
        work(engine)

    def tidy() -> None:
        for _ in range(3):
            service.drain_actions()
            service.sweep()
            service.sweep_objects()

    calls = [lambda: curate(Kind.PURGE), speak, lambda: curate(Kind.PIN), speak, lambda: curate(Kind.REFRESH), tidy]
    failures = [result for result in at_once(calls) if isinstance(result, Exception) and not is_made(result)]
    if connection.vendor == "sqlite":  # where many threads may wait for the one writer for too long
        failures = [failure for failure in failures if "locked" not in str(failure)]
    assert failures == []
    service.drain_actions()
    work(engine)
    assert not Rendering.objects.filter(state__in=OPEN).exists()
    assert not Synthesis.objects.filter(state__in=OPEN).exists()
    curate(Kind.PURGE)
    assert not Entry.objects.filter(text__icontains="sentence").exists()
    assert {owner.how(text) for text in TEXTS} == {"miss"}


def is_made(result: Exception) -> bool:
    return type(result).__name__ == "MadeMeanwhile"
