"""Sentences that nobody said before, speakable by every English engine, and the mixes in which benchmarks send them."""

from __future__ import annotations

import itertools
import random

NAMES = (
    *("Anna", "Ben", "Clara", "David", "Emma", "Frank", "Grace", "Henry", "Irene", "James"),
    *("Karen", "Louis", "Mary", "Nathan", "Olivia", "Peter", "Rachel", "Simon", "Teresa", "Victor"),
)
THINGS = ("order", "parcel", "letter", "ticket", "invoice", "contract", "new card", "spare key", "refund", "report")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = ("eight", "nine", "ten", "eleven", "noon", "one", "two", "three", "four", "five")
SENTENCES = tuple(
    f"{name}, your {thing} will arrive on {day} at {hour}."
    for name, thing, day, hour in itertools.product(NAMES, THINGS, DAYS, HOURS)
)


class Sentences:
    """Hands out each of its sentences once, in an order that the seed decides."""

    def __init__(self, seed: int) -> None:
        self._left = list(SENTENCES)
        random.Random(seed).shuffle(self._left)

    def take(self, count: int) -> list[str]:
        if count > len(self._left):
            raise ValueError(f"only {len(self._left)} sentences are left")
        taken, self._left = self._left[:count], self._left[count:]
        return taken


def phrases_and_others(fresh: Sentences, count: int, *, seed: int, phrases: int = 10, share: float = 0.6) -> list[str]:
    """`count` texts in random order: this share of them is one of the phrases, and the rest are all different."""
    chance = random.Random(seed)
    said_again = fresh.take(phrases)
    texts = [chance.choice(said_again) for _ in range(round(count * share))]
    texts += fresh.take(count - len(texts))
    chance.shuffle(texts)
    return texts


def by_popularity(phrases: list[str], count: int, *, seed: int, exponent: float) -> list[str]:
    """`count` of the phrases, the n-th of them with a weight of 1 / n ** exponent (Zipf)."""
    weights = [1 / rank**exponent for rank in range(1, len(phrases) + 1)]
    return random.Random(seed).choices(phrases, weights, k=count)


def poisson(count: int, rate: float, *, seed: int) -> list[float]:
    """Seconds from the start at which `count` independent requests arrive, `rate` of them a second on average."""
    chance = random.Random(seed)
    return list(itertools.accumulate(chance.expovariate(rate) for _ in range(count)))
