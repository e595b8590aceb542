"""S3: the Redis of the cache is (a) down, (b) 2 s late, (c) reset in the middle of answers, while requests go on."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx

from tests.faults.asking import Answer, apis_of, crowd, percentile, post, runs_of
from tests.faults.at_work import at_work
from tests.faults.ground import started
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.servers.redis import RedisServer
from tests.servers.tcp_proxy import TcpProxy
from tests.stack import Stack

LATE = 2.0
# Beyond the greeting of a connection, and in the middle of one of its later answers.
RESET_AFTER = 6_000
OPEN_AFTER = 10.0  # seconds within which the breaker is to be open
RATE = 5.0
HAMMERED = 2.0  # seconds
FAULTS: dict[str, Callable[[TcpProxy], None]] = {
    "down": lambda proxy: proxy.stop(),
    "late": lambda proxy: proxy.delay(LATE),
    "reset": lambda proxy: proxy.reset(RESET_AFTER),
}


def play(make_stack: MakeStack, *, seed: int, apis: int, calm: float, broken: float, waiters: int) -> Figures:
    with _cache() as proxy:
        env = {
            "REDIS_URL": f"redis://127.0.0.1:{proxy.port}/0",
            "REFRAIN_API_PROCESSES": str(apis),
            "REFRAIN_MAX_WAITERS": str(waiters),
            "COUNTING_SECONDS": "0.3",
        }
        stack = started(make_stack, env, apis=apis)
        token = stack.run("issue_key", "stranger", "--rate", str(RATE), "--burst", str(int(RATE))).strip()
        scene = Scene(stack, proxy, seed=seed, token=token)
        figures: Figures = {}
        for name in FAULTS:
            figures |= {f"{name}_{figure}": value for figure, value in scene.play(name, calm, broken, waiters).items()}
        return figures


@contextmanager
def _cache() -> Iterator[TcpProxy]:
    """A Redis for the cache alone, behind a proxy; the stack's own is the broker."""
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as redis, TcpProxy(redis.port) as proxy:
        yield proxy


@dataclass
class Callers:
    """Ask for a known phrase again and again, one caller for each API process; notes when, and the answer."""

    stack: Stack
    text: str
    notes: list[tuple[float, Answer]] = field(default_factory=list)

    @contextmanager
    def calling(self) -> Iterator[None]:
        with ExitStack() as opened:
            clients = [opened.enter_context(self.stack.client(api)) for api in apis_of(self.stack)]
            with at_work([partial(self._call, client) for client in clients], pause=0.05):
                yield

    def _call(self, client: httpx.Client) -> None:
        began = time.monotonic()
        self.notes.append((began, post(client, {"text": self.text, "wait": 30})))

    def seconds(self, since: float, until: float, *, share: float = 0.99) -> float:
        """The percentile of what began then; 0 where nothing did."""
        seconds = [answer.seconds for began, answer in self.notes if since <= began < until]
        return percentile(seconds, share) if seconds else 0.0

    @property
    def not_ok(self) -> int:
        return sum(answer.status != 200 for _, answer in self.notes)


class Scene:
    """One fault after another on the same stack."""

    def __init__(self, stack: Stack, proxy: TcpProxy, *, seed: int, token: str) -> None:
        self.stack = stack
        self.proxy = proxy
        self.seed = seed
        self.token = token

    def play(self, fault: str, calm: float, broken: float, waiters: int) -> Figures:
        known, new = f"Known before it is {fault}, seed {self.seed}.", f"New while it is {fault}, seed {self.seed}."
        self._until_all_hit(known)
        callers = Callers(self.stack, known)
        with callers.calling():
            threading.Event().wait(calm)
            began = time.monotonic()
            self._break(fault)
            answers = crowd(self.stack, [{"text": new, "wait": 60}] * waiters)
            admitted = self._admitted_beyond_limit(f"Limited while it is {fault}.", seconds=HAMMERED)
            threading.Event().wait(max(0.0, began + broken - time.monotonic()))
            healed = time.monotonic()
            self._heal()
            recovery = self._until_all_hit(known)
        before, opened = callers.seconds(0, began), min(healed, began + OPEN_AFTER)
        return {
            "not_ok": callers.not_ok + sum(answer.status != 200 for answer in answers),
            "runs_beyond_one": runs_of(self.stack, new) - 1 + runs_of(self.stack, known) - 1,
            "beyond_rate_limit": admitted,
            "added_p99_at_first": callers.seconds(began, opened) - before,
            "added_p99_later": callers.seconds(opened, healed) - before,
            "added_p50_later": callers.seconds(opened, healed, share=0.5) - callers.seconds(0, began, share=0.5),
            "slowest_miss": max(answer.seconds for answer in answers),
            "recovery": recovery,
        }

    def _break(self, fault: str) -> None:
        FAULTS[fault](self.proxy)
        if fault == "down":
            self.proxy.drop_connections()

    def _heal(self) -> None:
        self.proxy.pass_through()
        self.proxy.stop()
        self.proxy.start()

    def _until_all_hit(self, text: str) -> float:
        """Until every API process answers this from the cache; the seconds that it took."""
        began = time.monotonic()
        for api in apis_of(self.stack):
            with self.stack.client(api) as client:
                self.stack.wait_until(lambda client=client: _is_hit(client, text), seconds=60, what="a hit")
        return time.monotonic() - began

    def _admitted_beyond_limit(self, text: str, *, seconds: float) -> float:
        """How many more requests a key gets through than its limit says, over all processes."""
        codes: list[int] = []
        began = time.monotonic()

        def hammer(client: httpx.Client) -> None:
            codes.append(post(client, {"text": text, "wait": 0}).status)

        with ExitStack() as opened:
            clients = [opened.enter_context(self.stack.client(api, token=self.token)) for api in apis_of(self.stack)]
            with at_work([partial(hammer, client) for client in clients]):
                threading.Event().wait(seconds)
        most = RATE + RATE * (time.monotonic() - began)
        return max(0.0, sum(code in {200, 202} for code in codes) - most)


def _is_hit(client: httpx.Client, text: str) -> bool:
    answer = post(client, {"text": text, "wait": 30})
    return answer.status == 200 and answer.body["cache"] == "hit"


def _every(limits: dict[str, float]) -> dict[str, float]:
    return {f"{fault}_{name}": limit for fault in FAULTS for name, limit in limits.items()}


ROW = Row(
    name="S3",
    title="the cache's Redis down, 2 s late, reset in the middle of answers",
    play=play,
    short={"apis": 2, "calm": 0.5, "broken": 3.0, "waiters": 10},
    long={"apis": 2, "calm": 5.0, "broken": 25.0, "waiters": 40},
    limits={
        **_every({"not_ok": 0, "runs_beyond_one": 0}),
        "down_beyond_rate_limit": 0,
        "late_beyond_rate_limit": 0,
        # Of two processes one is cut off before the other: what Redis allows that one, and the share of the first.
        "reset_beyond_rate_limit": (RATE + RATE * HAMMERED) / 2,
    },
    long_limits=_every({"added_p99_at_first": 1.0, "added_p99_later": 0.05, "recovery": 30}),
)
