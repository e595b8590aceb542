"""Requests, cancels, workers, deaths and sweepers at random and at once: no error escapes, and everything ends."""

from __future__ import annotations

import contextlib
import random
from functools import partial

import pytest
from django.db.models import Count, Q

from synth.errors import SpeechFailed
from synth.models import Entry, Job, Rendering, RenderingPart, Synthesis
from synth.models.states import ENDED, OPEN, Priority, State
from synth.queue.claim import claim_rendering
from synth.service.endings import cancel_job
from synth.service.rendering import render
from synth.service.submission import MadeMeanwhile
from synth.service.sweeping import sweep
from synth.service.synthesis import synthesize
from synth.types import CacheMode
from tests.synth.queue.desk import WORKER, at_once, claim, order, work

SENTENCES = [f"Sentence {name}." for name in "abcdefghij"] + ["Bad fail-permanently."]
STEPS = 30


def ask(member, dice: random.Random) -> None:
    text = " ".join(dice.choices(SENTENCES, weights=[3] * 10 + [1], k=dice.randint(1, 4)))
    cache = dice.choices(list(CacheMode), weights=[8, 2, 1])[0]
    with contextlib.suppress(MadeMeanwhile, SpeechFailed):
        order(member, text, cache=cache, priority=dice.choice([Priority.INTERACTIVE, Priority.BATCH]))


def cancel_one(member, dice: random.Random) -> None:
    jobs = list(Job.objects.filter(tenant=member.tenant, state__in=OPEN).values_list("id", flat=True)[:20])
    if jobs:
        cancel_job(member.ref, dice.choice(jobs))


def speak(engine, _: random.Random) -> None:
    claimed = claim()
    if claimed is not None:
        synthesize(claimed, engine)


def render_one(_: random.Random) -> None:
    claimed = claim_rendering(WORKER)
    if claimed is not None:
        render(claimed)


def hand(actions, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(STEPS):
        dice.choice(actions)(dice)


@pytest.mark.parametrize("seed", [1, 2])
def test_everything_ends_and_nothing_is_made_twice(committed_world, engine, seed):
    asks = [partial(ask, member) for member in (committed_world.owner, committed_world.stranger)]
    cancels = [partial(cancel_one, member) for member in (committed_world.owner, committed_world.stranger)]
    hands = [
        *([*asks, *asks, *cancels] for _ in range(4)),
        *([partial(speak, engine)] for _ in range(2)),
        [render_one],
        [render_one, lambda _: sweep(), partial(speak, engine)],
    ]
    results = at_once([partial(hand, actions, 100 * seed + at) for at, actions in enumerate(hands)], seconds=200)
    assert [result for result in results if result is not None] == []

    work(engine)
    assert set(Job.objects.values_list("state", flat=True)) <= set(ENDED)
    assert not Rendering.objects.filter(state__in=OPEN).exists()
    assert not Synthesis.objects.filter(state__in=OPEN).exists()
    of_another_state = ~Q(state=State.CANCELED) & ~Q(state=State.SUCCEEDED, rendering__state=State.SUCCEEDED)
    assert not Job.objects.filter(of_another_state).exclude(state="failed", rendering__state="failed").exists()
    assert not RenderingPart.objects.filter(rendering__state=State.SUCCEEDED, digest="").exists()
    assert not Entry.objects.values("tenant", "kind", "key").annotate(n=Count("id")).filter(n__gt=1).exists()
    assert set(Synthesis.objects.exclude(state=State.CANCELED).values_list("attempt", flat=True)) == {1}
