"""How long a hit takes at 50 requests a second, beside the emptiest view of the same server.

Run: python -m benchmarks.hits [--seconds 20] [--rate 50]
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx

from benchmarks.stacks import running
from tests.stack import Stack

PHRASES = [f"Welcome to number {number}, how may I help you?" for number in range(10)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rate", type=float, default=50)
    arguments = parser.parse_args()
    with running() as stack:
        clients = _Clients(stack)
        for phrase in PHRASES:
            assert clients.speak(phrase, "url").status_code == 200
        print(f"{arguments.rate:g} requests a second, for {arguments.seconds:g} s each\n")
        print("| request | median ms | p95 ms | p99 ms | of the empty view |")
        print("|---|---|---|---|---|")
        empty = _measure(lambda _: clients.get().get("/healthz"), arguments.rate, arguments.seconds)
        _print("empty view", empty, empty)
        for delivery in ("url", "inline", "binary"):
            times = _measure(lambda number, way=delivery: _hit(clients, number, way), arguments.rate, arguments.seconds)
            _print(f"hit, {delivery}", times, empty)


class _Clients:
    """One kept-alive connection a thread, as a tenant's back end has."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._local = threading.local()

    def get(self) -> httpx.Client:
        if not hasattr(self._local, "client"):
            self._local.client = self._stack.client()
        client: httpx.Client = self._local.client
        return client

    def speak(self, phrase: str, delivery: str) -> httpx.Response:
        return self.get().post("/v1/speech", json={"text": phrase, "delivery": delivery, "wait": 60})


def _hit(clients: _Clients, number: int, delivery: str) -> None:
    answer = clients.speak(PHRASES[number % len(PHRASES)], delivery)
    hit = answer.headers.get("X-Cache") if delivery == "binary" else answer.json().get("cache")
    if hit != "hit":
        raise AssertionError(f"not a hit: {answer.status_code} {answer.text[:200]}")


def _measure(request: Callable[[int], object], rate: float, seconds: float) -> list[float]:
    """Milliseconds of each request, sent at their times whatever the earlier ones do (an open loop)."""

    def timed(number: int, due: float) -> float:
        request(number)
        return (time.perf_counter() - due) * 1000

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(request, range(32)))  # warm: connections and caches
        start = time.perf_counter() + 0.1
        pending = []
        for number in range(round(rate * seconds)):
            due = start + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            pending.append(pool.submit(timed, number, due))
        return [item.result() for item in pending]


def _print(name: str, times: list[float], empty: list[float]) -> None:
    cuts = statistics.quantiles(times, n=100)
    ratio = statistics.median(times) / statistics.median(empty)
    print(f"| {name} | {statistics.median(times):.2f} | {cuts[94]:.2f} | {cuts[98]:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
