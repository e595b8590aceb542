"""S4: the object store is (a) down, (b) hung, (c) slow, (d) cut in the middle of uploads, under jobs and readers."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from synth.errors import WorkError
from synth.keys import object_name
from synth.storage import s3
from synth.storage.base import ObjectStore
from tenants.types import TenantRef
from tests.faults.asking import crowd, number, open_jobs, rows, wait_until_all_end
from tests.faults.ground import started
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.servers.nanio import NanioServer
from tests.servers.tcp_proxy import TcpProxy, Way
from tests.stack import Stack

READ_TIMEOUT = 1.0
SLOW = 0.3  # a piece of an answer
CUT_AFTER = 6_000  # bytes: every sentence of this row is longer
FAULTS: dict[str, Callable[[TcpProxy], None]] = {
    "down": lambda proxy: proxy.stop(),
    "hung": lambda proxy: proxy.hang(),
    "slow": lambda proxy: proxy.delay(SLOW),
    "cut": lambda proxy: proxy.cut(CUT_AFTER, way=Way.UP),
}
READABLE = frozenset({"slow", "cut"})
DONE = (
    "SELECT tenant_id, digest, 'flac' FROM synth_synthesis WHERE state = 'succeeded'",
    "SELECT tenant_id, digest, format FROM synth_rendering WHERE state = 'succeeded'",
)


def play(make_stack: MakeStack, *, seed: int, jobs: int, outage: float) -> Figures:
    with _storage() as (server, proxy):
        stack = started(make_stack, _environment(server, proxy), engine_workers=1)
        scene = Scene(stack, proxy, s3.open_store(server.options))
        figures: Figures = {}
        for fault in FAULTS:
            texts = [f"Sentence {at} while it is {fault}, seed {seed}." for at in range(jobs)]
            played = scene.play(fault, texts, outage)
            figures |= {f"{fault}_{figure}": value for figure, value in played.items()}
        return figures


@contextmanager
def _storage() -> Iterator[tuple[NanioServer, TcpProxy]]:
    with tempfile.TemporaryDirectory() as folder, NanioServer(Path(folder)) as server, TcpProxy(server.port) as proxy:
        yield server, proxy


def _environment(server: NanioServer, proxy: TcpProxy) -> dict[str, str]:
    return {
        **server.environment,
        "S3_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}",
        "S3_PUBLIC_ENDPOINT_URL": server.endpoint,
        "S3_READ_TIMEOUT": str(READ_TIMEOUT),
    }


class Scene:
    """One fault after another on the same stack. `direct` reads the store past the proxy."""

    def __init__(self, stack: Stack, proxy: TcpProxy, direct: ObjectStore) -> None:
        self.stack = stack
        self.proxy = proxy
        self.direct = direct
        self.asked = 0

    def play(self, fault: str, texts: list[str], outage: float) -> Figures:
        known = self._finished(f"Made before. {texts[0]}")
        FAULTS[fault](self.proxy)
        if fault != "slow":
            self.proxy.drop_connections()
        crowd(self.stack, [{"text": text, "wait": 0} for text in texts])
        self.asked += len(texts)
        reads_wrong = sum(not self._read_as_it_should(known, fault) for _ in range(3))
        threading.Event().wait(outage)
        unreadable = self._unreadable()
        self.proxy.pass_through()
        self.proxy.stop()
        self.proxy.start()
        wait_until_all_end(self.stack, self.asked, seconds=120)
        return {
            "lost": self.asked - number(self.stack, "SELECT count(*) FROM synth_job WHERE state = 'succeeded'"),
            "stuck": open_jobs(self.stack),
            "unreadable_when_done": unreadable + self._unreadable(),
            "not_retried": 0 if fault == "slow" else 1 - min(1, self._retried(texts)),
            "reads_wrong": reads_wrong,
            "runs": sum(run["text"] in texts for run in self.stack.runs()),
        }

    def _finished(self, text: str) -> str:
        answers = crowd(self.stack, [{"text": text, "wait": 60}])
        self.asked += 1
        return str(answers[0].body["id"])

    def _read_as_it_should(self, speech_id: str, fault: str) -> bool:
        """The audio, or 503 with Retry-After where it cannot be had."""
        with self.stack.client() as client:
            answer = client.get(f"/v1/speech/{speech_id}/audio")
        if fault in READABLE:
            return answer.status_code == 200
        return answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0

    def _unreadable(self) -> int:
        """Rows that say done whose object is not there, or is not what the row says."""
        return sum(not self._is_readable(*row) for query in DONE for row in rows(self.stack, query))

    def _is_readable(self, tenant_id: object, digest: str, extension: str) -> bool:
        try:
            data = self.direct.get(object_name(TenantRef(UUID(str(tenant_id))), digest, extension))
        except WorkError:
            return False
        return sha256(data).hexdigest() == digest

    def _retried(self, texts: list[str]) -> int:
        """Sentences and renditions of these texts that took more than one attempt."""
        jobs = "SELECT rendering_id FROM synth_job ORDER BY created_at DESC LIMIT " + str(len(texts))
        parts = f"SELECT synthesis_id FROM synth_renderingpart WHERE rendering_id IN ({jobs})"
        sentences = number(self.stack, f"SELECT count(*) FROM synth_synthesis WHERE attempt > 1 AND id IN ({parts})")
        renditions = f"SELECT count(*) FROM synth_rendering WHERE attempt > 1 AND id IN ({jobs})"
        return sentences + number(self.stack, renditions)


def _every(limits: dict[str, float]) -> dict[str, float]:
    return {f"{fault}_{name}": limit for fault in FAULTS for name, limit in limits.items()}


ROW = Row(
    name="S4",
    title="the object store down, hung, slow, cut in the middle of uploads",
    play=play,
    short={"jobs": 3, "outage": 0.5},
    long={"jobs": 20, "outage": 1.5},
    limits=_every({"lost": 0, "stuck": 0, "unreadable_when_done": 0, "not_retried": 0, "reads_wrong": 0}),
)
