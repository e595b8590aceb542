"""How long a hit takes at 50 requests a second, beside the emptiest view of the same server.

Run: python -m benchmarks.hits [--quick] [--seconds 20] [--rate 50]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import orjson

from benchmarks.load import Answer, Caller, open_loop, quantile
from benchmarks.stacks import running

PHRASES = [f"Welcome to number {number}, how may I help you?" for number in range(10)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    seconds = 2 if arguments.quick else arguments.seconds
    with running() as stack:
        caller = Caller(stack)
        stack.wait_until(lambda: all(caller.speak(phrase).cache == "hit" for phrase in PHRASES), what="hits")
        print(f"{arguments.rate:g} requests a second, for {seconds:g} s each\n")
        print("| request | median ms | p95 ms | p99 ms | of the empty view |")
        print("|---|---|---|---|---|")
        empty = _measure(partial(_empty, caller), arguments.rate, seconds)
        _print("empty view", empty, empty)
        for delivery in ("url", "inline", "binary"):
            answers = _measure(partial(_hit, caller, delivery), arguments.rate, seconds)
            _print(f"hit, {delivery}", answers, empty)


def _measure(ask: Callable[[str], Answer], rate: float, seconds: float) -> list[Answer]:
    texts = [PHRASES[number % len(PHRASES)] for number in range(round(rate * seconds))]
    for text in texts[: 3 * len(PHRASES)]:
        ask(text)  # warm
    return open_loop(ask, texts, [number / rate for number in range(len(texts))], clients=16)


def _empty(caller: Caller, _text: str) -> Answer:
    started = time.perf_counter()
    status, _body = caller.connection.exchange("GET", "/healthz")
    return Answer(status, {}, time.perf_counter() - started)


def _hit(caller: Caller, delivery: str, text: str) -> Answer:
    started = time.perf_counter()
    body = orjson.dumps({"text": text, "delivery": delivery})
    status, answer = caller.connection.exchange("POST", "/v1/speech", body)
    seconds = time.perf_counter() - started
    if status != 200 or (delivery != "binary" and orjson.loads(answer)["cache"] != "hit"):
        raise AssertionError(f"not a hit: {status} {answer[:200]!r}")
    return Answer(status, {}, seconds)


def _print(name: str, answers: list[Answer], empty: list[Answer]) -> None:
    median, p95, p99 = (1000 * quantile(answers, share) for share in (0.5, 0.95, 0.99))
    ratio = median / (1000 * quantile(empty, 0.5))
    print(f"| {name} | {median:.2f} | {p95:.2f} | {p99:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
