"""Our field's second published case: an hour of a live stream with a hundred phrases, some said often and most rarely.

Run: python -m benchmarks.live_phrases [--quick] [--requests 1200] [--minutes 5]; six minutes
The hour is compressed: requests come faster by the same factor, while engine and cache stay as fast as they are.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.load import Answer, Caller, closed_loop, mean, open_loop, quantile
from benchmarks.stacks import engine_runs, running
from benchmarks.texts import Sentences, by_popularity, poisson

PHRASES = 100
HOUR = 60  # minutes
LEAST_SAVED = 0.7
HIT_SECONDS = 0.010


def main() -> None:
    arguments = _arguments()
    rate = arguments.requests / (60 * arguments.minutes)
    times = poisson(arguments.requests, rate, seed=arguments.seed)
    with running(env={"COUNTING_SECONDS": str(arguments.seconds)}) as stack:
        caller, fresh = Caller(stack), Sentences(arguments.seed)
        closed_loop(caller.speak, fresh.take(2) * 20, clients=4)  # warm
        phrases = fresh.take(PHRASES)
        texts = by_popularity(phrases, arguments.requests, seed=arguments.seed, exponent=arguments.exponent)
        _tell(arguments, rate)
        before = engine_runs(stack)
        answers = open_loop(caller.speak, texts, times, clients=16)
        runs = engine_runs(stack) - before
    _print_answers(answers)
    sounds, saved = len(set(texts)), 1 - runs / len(texts)
    print(f"\nDifferent phrases said: {sounds}; engine runs: {runs}; saved: {saved:.1%} (asked: {LEAST_SAVED:.0%})")
    hits = [answer for answer in answers if answer.cache == "hit"]
    within = sum(answer.seconds < HIT_SECONDS for answer in hits) / len(hits)
    print(f"Hits under {HIT_SECONDS * 1000:g} ms, at the client: {within:.1%}")
    sys.exit(runs != sounds or not all(answer.good for answer in answers))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1200, help="of the hour: one in three seconds")
    parser.add_argument("--minutes", type=float, default=5, help="that the hour takes")
    parser.add_argument("--exponent", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=0.2, help="of a run of the engine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a fifth of it")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.requests, arguments.minutes = arguments.requests // 5, arguments.minutes / 5
    return arguments


def _tell(arguments: argparse.Namespace, rate: float) -> None:
    faster = HOUR / arguments.minutes
    print(f"An hour in {arguments.minutes:g} minutes, {faster:g} times as fast: {arguments.requests} requests,")
    print(f"{rate:.2f} a second, arriving independently (Poisson); {PHRASES} phrases, by Zipf with the exponent")
    print(
        f"{arguments.exponent:g}; engine: counting, {arguments.seconds:g} s a run; seed {arguments.seed}.\n", flush=True
    )


def _print_answers(answers: Sequence[Answer]) -> None:
    print("| answer | requests | mean ms | median ms | P95 ms | P99 ms | success |")
    print("|---|---|---|---|---|---|---|")
    for cache, count in Counter(answer.cache for answer in answers).most_common():
        of_this = [answer for answer in answers if answer.cache == cache]
        good = sum(answer.good for answer in of_this) / count
        times = (mean(of_this), *(quantile(of_this, share) for share in (0.5, 0.95, 0.99)))
        print(f"| {cache or 'none'} | {count} | {_cells(times)} | {good:.1%} |")


def _cells(seconds: Iterable[float]) -> str:
    return " | ".join(f"{1000 * value:.1f}" for value in seconds)


if __name__ == "__main__":
    main()
