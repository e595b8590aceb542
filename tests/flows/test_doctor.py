"""`manage.py doctor` beside real processes: silent in good order; what is broken by hand is told and repaired."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.faults.asking import crowd, jobs_in, wait_until_all_end
from tests.stack import ROOT, Stack

pytestmark = pytest.mark.stack


@pytest.fixture
def running(make_stack) -> Stack:
    stack = make_stack()
    stack.api()
    stack.io_worker()
    stack.engine_worker()
    stack.wait_for_engines()
    return stack


def doctor(stack: Stack, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Its exit status, and its checks by name."""
    command = [sys.executable, "manage.py", "doctor", "--json", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=stack.environment(), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout, done.stderr
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def wrong(checks: dict[str, Any]) -> set[str]:
    # How full the disk of this machine is says nothing of Refrain; and its scheduler is stopped on purpose.
    return {name for name, check in checks.items() if not check["well"]} - {"disks", "scheduler"}


def test_it_tells_what_is_wrong_and_repairs_it(running: Stack) -> None:
    beat = running.beat()
    crowd(running, [{"text": f"Sentence number {at}.", "wait": 0} for at in range(3)])
    wait_until_all_end(running, 3, seconds=60)
    with running.redis.client() as redis:
        running.wait_until(lambda: redis.get("rf1:swept"), seconds=30, what="a round of the sweeper")
    _, checks = doctor(running, "--deep")
    assert wrong(checks) == set(), checks
    assert checks["scheduler"]["well"] or "s ago" in checks["scheduler"]["examples"][0]

    running.terminate(beat)  # it would repair some of this by itself
    running.seeded.ask("UPDATE synth_job SET state = 'queued', ended_at = NULL")
    audio = running.directory / "audio"
    sound = next(audio.rglob("*.flac"))
    orphan = sound.with_name(f"{sound.name[:2]}{'0' * 62}.flac")
    sound.rename(orphan)
    age(orphan)
    status, checks = doctor(running, "--deep")
    assert status == 1
    assert wrong(checks) == {"jobs left open", "objects without a row", "entries without an object"}
    assert checks["jobs left open"]["found"] == 3
    assert jobs_in(running, "succeeded") == 0

    _, checks = doctor(running, "--deep", "--repair")
    assert wrong(checks) == set(), checks
    assert (checks["jobs left open"]["found"], jobs_in(running, "succeeded")) == (3, 3)


def age(path: Path) -> None:
    long_ago = time.time() - 86_400
    os.utime(path, (long_ago, long_ago))


def test_it_tells_of_parts_that_are_away(make_stack) -> None:
    stack = make_stack(env={"REFRAIN_STORAGE": "s3", "S3_BUCKET": "b", "S3_ENDPOINT_URL": "http://127.0.0.1:9",
                            "S3_ACCESS_KEY_ID": "a", "S3_SECRET_ACCESS_KEY": "s"})  # fmt: skip
    stack.redis.kill()
    status, checks = doctor(stack)
    assert status == 1
    assert wrong(checks) >= {"cache", "broker", "object store", "engines"}
    assert {"migrations", "clocks", "jobs left open"}.isdisjoint(wrong(checks))
