"""L1: a long time of jobs, batches and callbacks, while Redis is killed, emptied, cut off and slow at random.

All of it ends and is told; rows, objects and cache agree, reads are served all the while, and no process grows.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import httpx

from tests.faults import listening, mixed_load, outcomes, reconciling
from tests.faults.asking import apis_of, jobs_in, post, wait_until_all_end
from tests.faults.at_work import at_work
from tests.faults.cache_away import FAULTS
from tests.faults.ground import dead, started
from tests.faults.listening import Listener
from tests.faults.memory import MemoryWatch
from tests.faults.mixed_load import Load, Mix
from tests.faults.reconciling import objects_in_bucket, reconciled
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.servers.nanio import NanioServer
from tests.servers.redis import RedisServer
from tests.servers.tcp_proxy import TcpProxy
from tests.stack import Stack

SHORTEST, LONGEST = 0.5, 6.0  # seconds that one fault lasts
APIS = 2


def play(
    make_stack: MakeStack, *, seed: int, seconds: float, clients: int, pause: float, every: float, run: float
) -> Figures:
    with _servers() as (bucket, cache, way), Listener.open() as listener:
        env = _environment(bucket, way, run) | listener.environment
        stack = started(make_stack, env, apis=APIS, engine_workers=2)
        listener.subscribe(stack)
        load = Load(stack, Mix(seed, callbacks=listener.callbacks), clients=clients, pause=pause)
        readers, memory = Readers(stack, f"Read in seed {seed}."), MemoryWatch(stack)
        trouble = Trouble(stack, random.Random(seed), cache=cache, way=way)
        with memory.watching(), readers.reading(), load.asking():
            trouble.play(seconds=seconds, every=every)
        ended = wait_until_all_end(stack, len(load.jobs) + 1, seconds=120)
        growths = memory.growths()
        return {
            **load.figures(),
            **{f"faults_{name}": count for name, count in sorted(trouble.played.items())},
            **outcomes.outcomes(stack, load, others=readers.jobs),
            "not_succeeded": jobs_in(stack, "failed") + jobs_in(stack, "canceled"),
            "reads": readers.asked,
            "reads_missed": readers.missed / readers.asked,
            "seconds_to_end": ended,
            "dead_processes": dead(stack),
            **listener.figures(stack, load.awaited),
            **reconciled(stack, objects_in_bucket(bucket), cache=cache),
            **{f"mib_per_hour_{name}": growth for name, growth in growths.items()},
            "mib_per_hour_most": max(growths.values()),
        }


@contextmanager
def _servers() -> Iterator[tuple[NanioServer, RedisServer, TcpProxy]]:
    """A bucket, and a Redis for the cache alone behind a proxy; the stack's own is the broker."""
    with (
        tempfile.TemporaryDirectory() as folder,
        NanioServer(Path(folder) / "s3") as bucket,
        RedisServer(Path(folder) / "cache") as cache,
        TcpProxy(cache.port) as way,
    ):
        yield bucket, cache, way


def _environment(bucket: NanioServer, way: TcpProxy, run: float) -> dict[str, str]:
    return {
        **bucket.environment,
        "REDIS_URL": f"redis://127.0.0.1:{way.port}/0",
        "REFRAIN_API_PROCESSES": str(APIS),
        "REFRAIN_L1_BYTES": str(2 * 2**20),  # full soon, so that what still grows is a leak
        "COUNTING_SECONDS": str(run),
        "COUNTING_VARIES": "yes",
    }


class Trouble:
    """The faults of R2, R3 and S3 at random, one at a time. `played` counts them by name."""

    def __init__(self, stack: Stack, dice: random.Random, *, cache: RedisServer, way: TcpProxy) -> None:
        self._broker = stack.redis
        self._dice = dice
        self._cache = cache
        self._way = way
        self.played: Counter[str] = Counter()
        self._faults: dict[str, Callable[[], None]] = {
            "broker_killed": self._kill_broker,
            "broker_emptied": self._broker.flush,
            "broker_clients_dropped": lambda: _drop_clients(self._broker),
            "cache_clients_dropped": lambda: _drop_clients(self._cache),
            **{f"cache_{name}": lambda name=name: self._break_cache(name) for name in FAULTS},
        }

    def play(self, *, seconds: float, every: float) -> None:
        """Each once in a random order, then each again, and so on."""
        ends_at = time.monotonic() + seconds
        names: list[str] = []
        while time.monotonic() < ends_at:
            names = names or self._dice.sample(sorted(self._faults), len(self._faults))
            threading.Event().wait(every * self._dice.uniform(0.5, 1.5))
            self._faults[name := names.pop()]()
            self.played[name] += 1

    def _last(self) -> None:
        threading.Event().wait(self._dice.uniform(SHORTEST, LONGEST))

    def _kill_broker(self) -> None:
        self._broker.kill()
        self._last()
        self._broker.start()

    def _break_cache(self, name: str) -> None:
        FAULTS[name](self._way)
        self._way.drop_connections()
        self._last()
        self._way.pass_through()
        self._way.stop()
        self._way.start()


def _drop_clients(redis: RedisServer) -> None:
    with redis.client() as client:
        client.client_kill_filter(_type="normal", skipme=True)


class Readers:
    """Ask every API process for a sound that is known, and hear it; `missed` counts what was not served.

    `jobs` are the ids of what was made for them: at first, and whenever it is not found.
    """

    def __init__(self, stack: Stack, text: str) -> None:
        self._stack = stack
        self._text = text
        self._lock = threading.Lock()
        self.jobs: set[str] = set()
        self.asked = self.missed = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        with ExitStack() as opened:
            clients = [opened.enter_context(self._stack.client(api)) for api in apis_of(self._stack)]
            self._read(clients[0])
            with at_work([partial(self._read, client) for client in clients], pause=0.1):
                yield

    def _read(self, client: httpx.Client) -> None:
        answer = post(client, {"text": self._text, "wait": 30})
        heard = answer.status == 200 and client.get(f"/v1/speech/{answer.body['id']}/audio").status_code == 200
        with self._lock:
            self.asked += 1
            self.missed += not heard
            self.jobs |= {speech for speech in [str(answer.body.get("id"))] if speech.startswith("job_")}


ROW = Row(
    name="L1",
    title="a soak of mixed load under the faults of R2, R3 and S3",
    play=play,
    short={"seconds": 60.0, "clients": 3, "pause": 0.6, "every": 5.0, "run": 0.1},
    long={"seconds": 1800.0, "clients": 3, "pause": 0.8, "every": 15.0, "run": 0.1},
    limits={
        "not_succeeded": 0,
        "reads_missed": 0.005,
        "dead_processes": 0,
        "objects_without_row": 0,
        **mixed_load.LIMITS,
        **outcomes.LIMITS,
        **listening.LIMITS,
        **reconciling.LIMITS,
    },
    long_limits={"mib_per_hour_most": 12},
    in_tests=False,
)
