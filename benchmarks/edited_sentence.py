"""What it costs to edit one sentence of a script that was spoken before, beside speaking all of it.

Run: python -m benchmarks.edited_sentence [--quick] [--engine hibari] [--scripts 5] [--sentences 20]; a minute
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence

from benchmarks.load import Answer, Caller
from benchmarks.stacks import COUNTING, engine_runs, running
from benchmarks.texts import Sentences
from tests.stack import Stack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default=COUNTING)
    parser.add_argument("--seconds", type=float, default=0.2, help="of a run of the counting engine")
    parser.add_argument("--scripts", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    scripts = 1 if arguments.quick else arguments.scripts
    with running(env={"COUNTING_SECONDS": str(arguments.seconds)}, engine=arguments.engine) as stack:
        caller, fresh = Caller(stack), Sentences(1)
        _spoken(stack, caller, fresh.take(3))  # warm
        print("| script | full s | engine runs | edited s | engine runs | edited / full |")
        print("|---|---|---|---|---|---|")
        found = [_edited(stack, caller, fresh, arguments.sentences, number) for number in range(1, scripts + 1)]
    print(f"\nMedian of edited / full: {statistics.median(ratio for _, ratio in found):.3f}", end="; ")
    print(f"one sentence of {arguments.sentences} is {1 / arguments.sentences:.3f}. Engine runs asked for an edit: 1.")
    sys.exit(any(runs != 1 for runs, _ in found))


def _edited(stack: Stack, caller: Caller, fresh: Sentences, count: int, number: int) -> tuple[int, float]:
    """The engine runs of the edited script, and its time as a share of the first one's."""
    script = fresh.take(count)
    full, full_runs = _spoken(stack, caller, script)
    script[count // 2] = fresh.take(1)[0]
    edited, runs = _spoken(stack, caller, script)
    ratio = edited.seconds / full.seconds
    print(f"| {number} | {full.seconds:.2f} | {full_runs} | {edited.seconds:.2f} | {runs} | {ratio:.3f} |", flush=True)
    return runs, ratio


def _spoken(stack: Stack, caller: Caller, script: Sequence[str]) -> tuple[Answer, int]:
    before = engine_runs(stack)
    answer = caller.speak(" ".join(script))
    assert answer.good, answer
    return answer, engine_runs(stack) - before


if __name__ == "__main__":
    main()
