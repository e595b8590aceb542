"""T2: a tenant floods the queue, and then fills it with a batch; another one's requests come next all the same."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from statistics import mean

from tests.engines import counting
from tests.faults.asking import Answer, crowd, jobs_in, percentile, post, wait_until_all_end
from tests.faults.ground import started
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.stack import Stack

CLIENTS = 50
WORKERS = 2
PATIENCE = 120.0


@dataclass(frozen=True)
class Single:
    """A request beside the flood: how long it waited to be spoken, and how many runs of others began meanwhile."""

    wait: float
    overtaken_by: int


def play(
    make_stack: MakeStack, *, seed: int, flood: int, limit: int, run: float, singles: int, every: float, items: int
) -> Figures:
    env = {"COUNTING_SECONDS": str(run), "REFRAIN_MAX_OPEN_JOBS": str(limit)}
    stack = started(make_stack, env, engine_workers=1)
    (first,) = (child for child in stack.children if child.kind == "engine")
    stack.terminate(first)  # the flood is counted while nothing of it ends
    answers = _flood(stack, [f"Flood {number} of seed {seed}." for number in range(flood)])
    stack.engine_worker(WORKERS)
    stack.wait_until(stack.runs, seconds=PATIENCE, what="a run of the flood")
    beside_flood = _singles(stack, f"flood {seed}", number=singles, every=every)
    accepted = sum(answer.status == 202 for answer in answers)
    wait_until_all_end(stack, accepted + singles, seconds=flood * run + 60)
    taken = _send_batch(stack, items, seed)
    stack.wait_until(lambda: stack.runs()[-1]["text"].startswith("Item"), seconds=PATIENCE, what="a run of the batch")
    beside_batch = _singles(stack, f"batch {seed}", number=max(2, singles // 4), every=every / 2)
    allowed = 2 * _mean_run(stack) + 1
    return {
        "accepted": accepted,
        "overshoot_percent": 100 * (accepted - limit) / limit,
        "room_left": max(0, limit - accepted),
        "refused_otherwise": sum(answer.status not in {202, 429} for answer in answers),
        "refused_without_retry_after": sum(answer.status == 429 and not answer.retry_after for answer in answers),
        "items_not_taken": items - taken,
        "flood_not_done": accepted + singles - min(accepted + singles, jobs_in(stack, "succeeded")),
        "overtaken_by_flood": max(single.overtaken_by for single in beside_flood),
        "overtaken_by_batch": max(single.overtaken_by for single in beside_batch),
        "p95_wait_beside_flood": percentile([single.wait for single in beside_flood], 0.95),
        "longest_wait_beside_batch": max(single.wait for single in beside_batch),
        "p95_beyond_allowed_beside_flood": percentile([single.wait for single in beside_flood], 0.95) - allowed,
        "longest_beyond_allowed_beside_batch": max(single.wait for single in beside_batch) - allowed,
    }


def _flood(stack: Stack, texts: list[str]) -> list[Answer]:
    """Asked by fifty clients at once, again and again."""
    bodies = [{"text": text, "wait": 0} for text in texts]
    return [
        answer for start in range(0, len(bodies), CLIENTS) for answer in crowd(stack, bodies[start : start + CLIENTS])
    ]


def _singles(stack: Stack, name: str, *, number: int, every: float) -> list[Single]:
    """One request of the other tenant after another, `every` seconds apart, each once the one before is spoken."""
    found = []
    with stack.client(token=stack.seeded.stranger) as client:
        for at in range(number):
            text = f"Single {at} beside {name}."
            asked = time.time()
            assert post(client, {"text": text, "wait": 0}).status == 202
            queued = time.time()
            began = stack.wait_until(lambda text=text: _begun(stack, text), seconds=PATIENCE, what=text)
            ahead = sum(queued < float(str(run["time"])) < began for run in stack.runs())
            found.append(Single(began - asked, ahead))
            threading.Event().wait(max(0.0, asked + every - time.time()))
    return found


def _begun(stack: Stack, text: str) -> float:
    return next((float(str(run["time"])) for run in stack.runs() if run["text"] == text), 0.0)


def _send_batch(stack: Stack, items: int, seed: int) -> int:
    """How many of its items were taken."""
    lines = "".join(json.dumps({"text": f"Item {at} of seed {seed}."}) + "\n" for at in range(items))
    with stack.client() as client:
        answer = client.post("/v1/batches", content=lines, headers={"Content-Type": "application/x-ndjson"})
    if answer.status_code != 202:
        return 0
    counts = answer.json()["counts"]
    return int(counts["total"] - counts["refused"])


def _mean_run(stack: Stack) -> float:
    began, lengths = {}, []
    for line in counting.lines(stack.runs_log):
        if line["event"] == "start":
            began[line["pid"]] = line["time"]
        else:
            lengths.append(line["time"] - began[line["pid"]])
    return mean(lengths)


# Whatever a worker claimed before the request was there may begin after it; then, beside a batch, comes at worst the
# one claim in eight that goes below.
ROW = Row(
    name="T2",
    title="one tenant floods, and fills a batch, beside another one's single requests",
    play=play,
    short={"flood": 100, "limit": 60, "run": 0.2, "singles": 6, "every": 0.4, "items": 120},
    long={"flood": 1200, "limit": 1000, "run": 0.5, "singles": 40, "every": 5.0, "items": 10_000},
    limits={
        "overshoot_percent": 1,
        "room_left": 0,
        "refused_otherwise": 0,
        "refused_without_retry_after": 0,
        "items_not_taken": 0,
        "flood_not_done": 0,
        "overtaken_by_flood": WORKERS,
        "overtaken_by_batch": 2 * WORKERS,
    },
    long_limits={"p95_beyond_allowed_beside_flood": 0, "longest_beyond_allowed_beside_batch": 0},
)
