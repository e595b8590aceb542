"""The load of our field's published case with the cache and without it, in one run; then an open loop of the same mix.

Run: python -m benchmarks.published_case [--quick] [--workers 1] [--rounds 3]; about half an hour
     python -m benchmarks.published_case --engine hibari, and --engine kokoro --sample 50
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from benchmarks.load import Answer, Caller, closed_loop, mean, open_loop, quantile
from benchmarks.processes import stack_cpu
from benchmarks.stacks import COUNTING, engine_runs, engine_seconds, running
from benchmarks.texts import Sentences, phrases_and_others, poisson
from tests.stack import Stack

AT_A_TIME = 50
SHARE_OF_CAPACITY = 0.8
WITHOUT, WITH = "bypass", "use"
NAMES = {WITHOUT: "without", WITH: "with"}
ENV = {"REFRAIN_MAX_WAITERS": "64"}
HEAD = (
    "| round | cache | mean s | P95 s | requests/s | engine runs | engine busy | CPU s | CPU ms/request | success |",
    "|---|---|---|---|---|---|---|---|---|---|",
)


@dataclass(frozen=True)
class Half:
    """What all requests of a round came to with the cache, or without it. `sounds`: how many different ones."""

    sounds: int
    answers: list[Answer]
    seconds: float
    cpu: float
    runs: int
    engine_seconds: float

    @property
    def throughput(self) -> float:
        return len(self.answers) / self.seconds

    @property
    def good(self) -> int:
        return sum(answer.good for answer in self.answers)

    def is_right(self, due: int) -> bool:
        """Facts, not speed: no request failed, and the engine ran as often as was due."""
        return self.good == len(self.answers) and self.runs == due


def main() -> None:
    arguments = _arguments()
    env = {**ENV, "COUNTING_SECONDS": str(arguments.seconds)}
    with running(env=env, engine=arguments.engine, engine_workers=arguments.workers) as stack:
        caller = Caller(stack)
        fresh = Sentences(arguments.seed)
        closed_loop(caller.speak, fresh.take(4), clients=2)  # warm
        _tell(arguments)
        rounds = _closed_rounds(stack, caller, fresh, arguments)
        _open_loop(stack, caller, fresh, arguments, capacity=rounds[-1][WITHOUT].throughput)
    right = all(
        halves[WITHOUT].is_right(arguments.sample) and halves[WITH].is_right(halves[WITH].sounds) for halves in rounds
    )
    sys.exit(not right)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default=COUNTING)
    parser.add_argument("--sample", type=int, default=1000, help="requests of a round")
    parser.add_argument("--rounds", type=int, help="three, or one with a real engine")
    parser.add_argument("--open", type=int, help="requests of the open loop: half the sample")
    parser.add_argument("--workers", type=int, default=1, help="engine workers")
    parser.add_argument("--seconds", type=float, default=0.2, help="of a run of the counting engine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.sample, arguments.rounds = min(arguments.sample, 100), 1
    arguments.rounds = arguments.rounds or (3 if arguments.engine == COUNTING else 1)
    arguments.open = arguments.sample // 2 if arguments.open is None else arguments.open
    return arguments


def _tell(arguments: argparse.Namespace) -> None:
    engine = f"counting, {arguments.seconds:g} s a run" if arguments.engine == COUNTING else arguments.engine
    print(f"Engine: {engine}; engine workers: {arguments.workers}; seed {arguments.seed}.\n")
    print(f"Closed loop: {arguments.sample} requests a round, {AT_A_TIME} at a time.\n")


def _closed_rounds(
    stack: Stack, caller: Caller, fresh: Sentences, arguments: argparse.Namespace
) -> list[dict[str, Half]]:
    """The halves change places from round to round: what grows or warms up favours neither."""
    print(*HEAD, sep="\n")
    rounds = []
    for number in range(1, arguments.rounds + 1):
        texts = phrases_and_others(fresh, arguments.sample, seed=arguments.seed + number)
        halves: dict[str, Half] = {}
        for cache in (WITHOUT, WITH) if number % 2 else (WITH, WITHOUT):
            load = partial(closed_loop, partial(caller.speak, cache=cache), texts, clients=AT_A_TIME)
            halves[cache] = _measured(stack, load, texts)
            _print_half(str(number), cache, halves[cache], arguments.workers)
        rounds.append(halves)
    _print_verdict(rounds)
    return rounds


def _open_loop(
    stack: Stack, caller: Caller, fresh: Sentences, arguments: argparse.Namespace, *, capacity: float
) -> None:
    if not arguments.open:
        return
    rate = SHARE_OF_CAPACITY * capacity
    print(
        f"\nOpen loop: {arguments.open} requests, Poisson, {rate:.2f} a second: {SHARE_OF_CAPACITY:.0%} of the above.\n"
    )
    print(*HEAD, sep="\n")
    texts = phrases_and_others(fresh, arguments.open, seed=arguments.seed)
    times = poisson(len(texts), rate, seed=arguments.seed)
    found = {}
    for cache in (WITHOUT, WITH):
        load = partial(open_loop, partial(caller.speak, cache=cache), texts, times, clients=64)
        found[cache] = _measured(stack, load, texts)
        _print_half("open", cache, found[cache], arguments.workers)
    ratio = mean(found[WITHOUT].answers) / mean(found[WITH].answers)
    print(f"\nMean latency without the cache over with it: {ratio:.2f}; different sounds: {len(set(texts))}.")


def _measured(stack: Stack, load: Callable[[], list[Answer]], texts: list[str]) -> Half:
    cpu, runs, spoken, started = stack_cpu(stack), engine_runs(stack), engine_seconds(stack), time.perf_counter()
    answers = load()
    seconds = time.perf_counter() - started
    return Half(
        sounds=len(set(texts)),
        answers=answers,
        seconds=seconds,
        cpu=stack_cpu(stack) - cpu,
        runs=engine_runs(stack) - runs,
        engine_seconds=engine_seconds(stack) - spoken,
    )


def _print_half(number: str, cache: str, half: Half, workers: int) -> None:
    count = len(half.answers)
    busy = half.engine_seconds / (half.seconds * workers)
    cells = (
        *(number, NAMES[cache], f"{mean(half.answers):.3f}", f"{quantile(half.answers, 0.95):.3f}"),
        *(f"{half.throughput:.2f}", str(half.runs), f"{busy:.0%}", f"{half.cpu:.1f}"),
        *(f"{1000 * half.cpu / count:.1f}", f"{half.good / count:.1%}"),
    )
    print("|", " | ".join(cells), "|", flush=True)


def _print_verdict(rounds: list[dict[str, Half]]) -> None:
    ratios = [halves[WITH].throughput / halves[WITHOUT].throughput for halves in rounds]
    limits = [len(halves[WITH].answers) / halves[WITH].sounds for halves in rounds]
    share = statistics.fmean(ratio / limit for ratio, limit in zip(ratios, limits, strict=True))
    cpu = statistics.fmean(halves[WITH].cpu / halves[WITHOUT].cpu for halves in rounds)
    print(f"\nEngine runs with the cache: {_listed(halves[WITH].runs for halves in rounds)}")
    print(f"Different sounds:           {_listed(halves[WITH].sounds for halves in rounds)} (as many runs are due)")
    print(f"Engine runs without:        {_listed(halves[WITHOUT].runs for halves in rounds)}")
    print(f"Throughput with the cache over without: {_listed(f'{ratio:.3f}' for ratio in ratios)}")
    print(f"Its limit, requests over sounds:        {_listed(f'{limit:.3f}' for limit in limits)}")
    print(f"Mean share of the limit: {share:.1%} (asked of an engine that takes the same time for everything: 95%)")
    print(f"CPU with the cache over without: {cpu:.2f}")


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


if __name__ == "__main__":
    main()
