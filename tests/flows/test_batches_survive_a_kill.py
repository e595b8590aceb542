"""`kill -9` of workers and of the API in the midst of a batch: every item has one result, and none is spoken twice."""

from __future__ import annotations

import io
import json
import signal
import zipfile
from collections import Counter

import pytest

from tests.conftest import StackMaker
from tests.faults.asking import double_results, number

pytestmark = pytest.mark.stack

ITEMS = 200
BODY = b"".join(
    json.dumps({"text": f"Item number {at}.", "custom_id": f"c{at}", "format": "wav"}).encode() + b"\n"
    for at in range(ITEMS)
)


def test_no_item_is_lost_or_made_twice(make_stack: StackMaker) -> None:
    stack = make_stack(env={"COUNTING_SECONDS": "0.02", "REFRAIN_LEASE": "2", "REFRAIN_HEARTBEAT": "0.5"})
    (api,) = stack.api()
    (engine,) = stack.engine_worker()
    (io_worker,) = stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    with stack.client() as client:
        sent = client.post("/v1/batches", content=BODY, headers={"Content-Type": "application/x-ndjson"})
        assert sent.status_code == 202, sent.text
        batch = sent.json()

    def succeeded() -> int:
        return number(stack, "SELECT done FROM synth_curationaction")

    kills = 0
    for part in (5, 60):
        stack.wait_until(lambda part=part: succeeded() >= part, seconds=120, what=f"{part} items")
        for child in (io_worker, engine, api):
            stack.kill(child, signal.SIGKILL)
        kills += 1
        (io_worker,) = stack.io_worker()
        (engine,) = stack.engine_worker()
        (api,) = stack.api()
    stack.wait_until(lambda: number(stack, "SELECT count(*) FROM synth_webhookevent"), seconds=180, what="the end")
    with stack.client(api) as client:
        told = client.get(batch["href"]).json()
        manifest = [json.loads(line) for line in client.get(batch["results"]["manifest"]).text.splitlines()]
        archive = zipfile.ZipFile(io.BytesIO(client.get(batch["results"]["audio"]).content))
    assert (told["status"], told["counts"]["succeeded"], told["counts"]["total"]) == ("succeeded", ITEMS, ITEMS)
    assert [row["custom_id"] for row in manifest] == [f"c{at}" for at in range(ITEMS)]
    assert len({row["speech_id"] for row in manifest}) == ITEMS
    assert (archive.testzip(), len(archive.namelist())) == (None, ITEMS + 1)
    runs = Counter(str(run["text"]) for run in stack.runs())
    assert set(runs) == {f"Item number {at}." for at in range(ITEMS)}
    # What the engine had in hand when it was killed is spoken once more.
    assert sum(runs.values()) <= ITEMS + kills
    assert number(stack, "SELECT count(*) FROM synth_job") == ITEMS
    assert double_results(stack) == 0
