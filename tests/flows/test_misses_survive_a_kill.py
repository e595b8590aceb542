"""Reasons of misses reach tenants by themselves, and once each though a process that counts them is killed."""

import subprocess
import sys
from typing import Any

import pytest

from tests.stack import ROOT, Stack

pytestmark = pytest.mark.stack

TEXT = "Your appointment is at noon."
# Judges as the io worker does, and is killed when everything is written and nothing is committed.
DIES = """
import os, signal
from synth.service import judge_misses, missing
missing._show = lambda _: os.kill(os.getpid(), signal.SIGKILL)
judge_misses()
"""


def told(stack: Stack) -> dict[str, Any]:
    with stack.client() as client:
        total: dict[str, Any] = client.get("/v1/cache/misses").json()["total"]
    return total


def test_each_miss_is_counted_once_over_a_kill_before_the_commit(stack: Stack) -> None:
    stack.api()
    stack.engine_worker()
    stack.io_worker(2)
    stack.wait_for_engines()
    with stack.client() as client:
        for seed in (1, 2, 3):
            assert client.post("/v1/speech", json={"text": TEXT, "seed": seed}).json()["cache"] == "miss"
        assert client.post("/v1/speech", json={"text": TEXT, "seed": 3}).json()["cache"] == "hit"
    command = [sys.executable, "manage.py", "shell", "--verbosity", "0", "--command", DIES]
    died = subprocess.run(command, cwd=ROOT, env=stack.environment(), capture_output=True, check=False)
    assert died.returncode == -9, died.stderr
    assert told(stack)["misses"] == 0
    stack.beat()
    stack.wait_until(lambda: told(stack)["misses"] == 3, seconds=60, what="three misses")
    total = told(stack)
    assert (total["reasons"]["first_seen"], total["reasons"]["near_miss"], total["parameters"]) == (1, 2, {"seed": 2})
