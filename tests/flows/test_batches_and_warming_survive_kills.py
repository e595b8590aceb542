"""`kill -9` of workers and of the API in the midst of a batch and a warming: all is made, nothing twice."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from typing import Any

import pytest

from tests.conftest import StackMaker
from tests.faults.asking import double_results, number, open_actions
from tests.faults.ground import started
from tests.stack import Stack

pytestmark = pytest.mark.stack

ITEMS = [f"Item number {at}." for at in range(80)]
LINES = [f"Warm line number {at}." for at in range(20)]
BODY = "".join(
    json.dumps({"text": text, "custom_id": f"c{at}", "format": "wav"}) + "\n" for at, text in enumerate(ITEMS)
)
# In the order of the deaths, and how many items of the batch are done by then.
KILLS = ((5, ("io",)), (40, ("io", "engine", "api")))


def test_none_is_lost_or_made_twice(make_stack: StackMaker) -> None:
    env = {"COUNTING_SECONDS": "0.02", "REFRAIN_LEASE": "2", "REFRAIN_HEARTBEAT": "0.5"}
    stack = started(make_stack, env, engine_workers=1)
    with stack.client() as client:
        batch = client.post("/v1/batches", content=BODY, headers={"Content-Type": "application/x-ndjson"}).json()
        warming = client.post("/v1/cache/warmings", json={"lines": [{"text": text} for text in LINES]}).json()
    done = "SELECT done FROM synth_curationaction WHERE kind = 'batch'"
    for part, kinds in KILLS:
        stack.wait_until(lambda part=part: number(stack, done) >= part, seconds=120, what=f"{part} items")
        kill_and_revive(stack, *kinds)
    stack.wait_until(lambda: not open_actions(stack), seconds=180, what="the end")
    look_at(stack, batch, warming)
    runs = Counter(str(run["text"]) for run in stack.runs())
    assert set(runs) == {*ITEMS, *LINES}
    assert sum(runs.values()) <= len(ITEMS) + len(LINES) + 1  # what the engine had in hand is spoken once more
    assert number(stack, "SELECT count(*) FROM synth_job") == len(ITEMS) + len(LINES)
    assert double_results(stack) == 0
    assert number(stack, "SELECT count(*) FROM synth_webhookevent WHERE type = 'batch.completed'") == 1


def kill_and_revive(stack: Stack, *kinds: str) -> None:
    victims = [child for child in stack.children if child.kind in kinds]
    for child in victims:
        stack.kill(child)
    for child in victims:
        stack.revive(child)


def look_at(stack: Stack, batch: dict[str, Any], warming: dict[str, Any]) -> None:
    with stack.client() as client:
        warmed = client.get(warming["href"]).json()
        told = client.get(batch["href"]).json()
        manifest = [json.loads(line) for line in client.get(batch["results"]["manifest"]).text.splitlines()]
        archive = zipfile.ZipFile(io.BytesIO(client.get(batch["results"]["audio"]).content))
    assert [warmed[name] for name in ("status", "done", "cached", "failed")] == ["succeeded", 20, 0, 0]
    assert (told["status"], told["counts"]["succeeded"], told["counts"]["total"]) == ("succeeded", 80, 80)
    assert [row["custom_id"] for row in manifest] == [f"c{at}" for at in range(80)]
    assert len({row["speech_id"] for row in manifest}) == 80
    assert (archive.testzip(), len(archive.namelist())) == (None, 81)
