"""What a warm hit costs the API in CPU, beside a bare Django view of one Redis GET on the same server; its round trips.

Run: python -m benchmarks.hit_cost [--quick] [--rounds 12] [--block 1000]; a minute or two
That a hit needs no SQL is held by tests/synth/cache/test_cost_of_a_hit.py.
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

import orjson

from benchmarks.load import Caller, Connection
from benchmarks.processes import session_cpu
from benchmarks.stacks import running, server
from tests.servers.ports import free_port
from tests.stack import API_THREADS, Stack
from ttsproject.launch import services

TEXT = "Welcome back, how may I help you today?"
COUNTED = 200


@dataclass(frozen=True)
class Case:
    """One kind of request to one server; `bare` names the case that it is compared with."""

    name: str
    pid: int
    connection: Connection
    method: str
    path: str
    body: bytes | None = None
    bare: str = ""
    varies: bool = False

    def ask(self, count: int) -> None:
        for _ in range(count):
            body = _other(self.body) if self.varies and self.body else self.body
            status, answer = self.connection.exchange(self.method, self.path, body)
            if status != 200 or not answer:
                raise AssertionError(f"{self.name}: {status} {answer[:200]!r}")

    def milliseconds(self, count: int) -> float:
        """CPU of the server for each of so many requests, one after the other."""
        before = session_cpu(self.pid)
        self.ask(count)
        return 1000 * (session_cpu(self.pid) - before) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12, help="blocks of each kind, taken in turns")
    parser.add_argument("--block", type=int, default=1000, help="requests of a block")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    rounds, block = (4, 200) if arguments.quick else (arguments.rounds, arguments.block)
    with running() as stack:
        _warm(stack)
        with _bare_server(stack) as bare:
            cases = [*_bare_cases(*bare), *_hit_cases(stack)]
            _print_costs(cases, _costs(cases, rounds=rounds, block=block), rounds * block)
        _print_round_trips(stack, cases)


def _warm(stack: Stack) -> None:
    """Until it is a hit; then only the API and Redis are left, so that Redis is asked nothing but for requests."""
    caller = Caller(stack)
    assert caller.speak(TEXT).good
    stack.wait_until(lambda: caller.speak(TEXT).cache == "hit", what="a hit")
    for child in stack.children:
        if child.port is None:
            stack.terminate(child)


@contextmanager
def _bare_server(stack: Stack) -> Iterator[tuple[int, Connection]]:
    """As the API is served: the same server, with as many threads."""
    with stack.redis.client() as redis:
        (entry,) = redis.scan_iter("*:entry:*")
        (audio,) = redis.scan_iter("*:audio:*")
    env = {"BARE_REDIS_URL": stack.redis.url, "BARE_ENTRY": entry.decode(), "BARE_AUDIO": audio.decode()}
    port = free_port()
    command = [
        "benchmarks.bare:application" if word == "ttsproject.wsgi:application" else word
        for word in services.api(port, threads=API_THREADS)
    ]
    with server(command, port, log=stack.directory / "bare.log", env=env) as pid:
        yield pid, Connection(port, stack.seeded.owner)


def _bare_cases(pid: int, connection: Connection) -> list[Case]:
    """Also asked by the request that the hit gets: its headers and body cost the server, too."""
    return [
        Case("bare, entry", pid, connection, "GET", "/entry"),
        Case("bare, audio", pid, connection, "GET", "/audio"),
        Case("bare, entry, by POST", pid, connection, "POST", "/entry", _body("url"), bare="bare, entry"),
    ]


def _hit_cases(stack: Stack) -> list[Case]:
    """A URL and inline audio are told of in JSON, as the bare view tells the entry; binary is the audio itself."""
    api = stack.children[0]
    beside = {"url": "bare, entry", "inline": "bare, audio", "binary": "bare, audio"}
    connection = Connection(stack.public_port, stack.seeded.owner)
    cases = [
        Case(f"hit, {delivery}", api.pid, connection, "POST", "/v1/speech", _body(delivery), bare=bare)
        for delivery, bare in beside.items()
    ]
    url = cases[0]
    return [*cases, replace(url, name="url, told with other metadata each time", varies=True)]


def _other(body: bytes) -> bytes:
    """The same speech in a request that the API has not seen: it is read and judged anew."""
    return orjson.dumps({**orjson.loads(body), "metadata": {"call": uuid4().hex}})


def _body(delivery: str) -> bytes:
    return orjson.dumps({"text": TEXT, "delivery": delivery})


def _costs(cases: list[Case], *, rounds: int, block: int) -> dict[str, list[float]]:
    """Blocks in turns, forwards and backwards: what changes on the machine meanwhile falls on all of them."""
    costs: dict[str, list[float]] = {case.name: [] for case in cases}
    for case in cases:
        case.ask(block)
    for number in range(rounds):
        for case in cases if number % 2 else reversed(cases):
            costs[case.name].append(case.milliseconds(block))
    return costs


def _print_costs(cases: list[Case], costs: dict[str, list[float]], count: int) -> None:
    print(f"Server CPU of a request, {count} of each, one after the other on one connection\n")
    print("| request | mean ms | median block | beside | ratio of means | asked |")
    print("|---|---|---|---|---|---|")
    for case in cases:
        mean, median = statistics.fmean(costs[case.name]), statistics.median(costs[case.name])
        ratio = f"{mean / statistics.fmean(costs[case.bare]):.2f}" if case.bare else ""
        asked = "at most 1.50" if case.name.startswith("hit") else ""
        print(f"| {case.name} | {mean:.3f} | {median:.3f} | {case.bare} | {ratio} | {asked} |", flush=True)


def _print_round_trips(stack: Stack, cases: list[Case]) -> None:
    """What the API sent to Redis while it answered hits. Commands that a script runs are no round trips."""
    hits = [case for case in cases if case.path == "/v1/speech"]
    sent: Counter[str] = Counter()
    with stack.redis.client() as redis, stack.redis.client() as watching:
        redis.ping()  # connects, which is not to be counted
        with watching.monitor() as monitor:
            for case in hits:
                case.ask(COUNTED)
            redis.set("the-end", 1)
            while not (seen := monitor.next_command())["command"].startswith("SET the-end"):
                if seen["client_type"] != "lua":
                    sent[seen["command"].split()[0].upper()] += 1
    print(f"\nRedis commands sent for {COUNTED * len(hits)} hits: {dict(sent)}")


if __name__ == "__main__":
    main()
