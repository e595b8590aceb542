"""Hits reach the usage table by themselves, and once each though a process that writes them down is killed."""

import json
import subprocess
import sys

import pytest

from tests.stack import ROOT, Stack

pytestmark = pytest.mark.stack

HITS = 20
BODY = {"text": "Hello there."}
# Drains as the io worker does, and is killed when the rows are committed and the events are still in Redis.
DIES = """
import os, signal
from synth.cache.usage_stream import UsageStreams
from synth.service import drain_usage
UsageStreams.taken = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
drain_usage()
"""
COUNT = """
import json
from django.db.models import Count
from tenants.models import Usage
print(json.dumps(dict(Usage.objects.order_by().values_list("outcome").annotate(Count("id")))))
"""


def counted(stack: Stack) -> dict[str, int]:
    told: dict[str, int] = json.loads(stack.run("shell", "--verbosity", "0", "--command", COUNT).splitlines()[-1])
    return told


def test_each_hit_is_written_once_over_a_kill_between_commit_and_acknowledgement(stack: Stack) -> None:
    stack.api()
    stack.engine_worker()
    stack.io_worker()
    stack.wait_for_engines()
    with stack.client() as client:
        answers = [client.post("/v1/speech", json=BODY).json()["cache"] for _ in range(HITS + 1)]
    assert answers == ["miss", *["hit"] * HITS]
    command = [sys.executable, "manage.py", "shell", "--verbosity", "0", "--command", DIES]
    died = subprocess.run(command, cwd=ROOT, env=stack.environment(), capture_output=True, check=False)
    assert died.returncode == -9, died.stderr
    assert counted(stack) == {"miss": 1, "hit": HITS}
    with stack.client() as client:
        client.post("/v1/speech", json=BODY)
    stack.beat()
    with stack.redis.client() as redis:
        (name,) = (key for key in redis.scan_iter("*:usage:*"))
        stack.wait_until(lambda: redis.xlen(name) == 0, seconds=60, what="an emptied stream")
    assert counted(stack) == {"miss": 1, "hit": HITS + 1}
