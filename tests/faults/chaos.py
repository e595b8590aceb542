"""Chaos: mixed jobs while processes are killed with kill -9 and servers restarted at random, a fault every few seconds.

Every request reaches an end, and in the end rows, objects and Redis say the same.
"""

from __future__ import annotations

import random
from uuid import UUID

from tenants.ids import parse_id
from tests.faults.asking import jobs_in, number, rows, wait_until_all_end
from tests.faults.disturbing import Disturber
from tests.faults.ground import started
from tests.faults.mixed_load import Load, Mix
from tests.faults.reconciling import LIMITS, objects_in_folder, reconciled
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.stack import Stack

# A sentence whose worker is killed at each of its attempts fails, and says so.
UNLUCKY = "worker_lost"


def play(
    make_stack: MakeStack, *, seed: int, jobs: int, clients: int, pause: float, every: float, run: float, lease: float
) -> Figures:
    stack = started(make_stack, _environment(run, lease), apis=2, engine_workers=2, io_workers=2)
    load = Load(stack, Mix(seed), clients=clients, pause=pause)
    disturber = Disturber(stack, random.Random(seed))
    with load.asking():
        disturber.play(every=every, until=lambda: len(load.jobs) >= jobs)
    seconds = wait_until_all_end(stack, len(load.jobs), seconds=120)
    compared = reconciled(stack, objects_in_folder(stack), cache=stack.redis)
    return {
        **_asked(load),
        **{f"faults_{name}": count for name, count in sorted(disturber.played.items())},
        "faults_missing": disturber.missing,
        **_ended(stack, load),
        "seconds_to_end": seconds,
        **compared,
        "objects_beyond_kills": max(0, compared["objects_without_row"] - disturber.kills),
    }


def _environment(run: float, lease: float) -> dict[str, str]:
    return {
        "COUNTING_SECONDS": str(run),
        "COUNTING_VARIES": "yes",  # so that a second result would show
        "REFRAIN_LEASE": str(lease),
        "REFRAIN_HEARTBEAT": str(lease / 3),
    }


def _asked(load: Load) -> Figures:
    """What the clients were told."""
    return {
        "jobs": len(load.jobs),
        "hits": load.answers[200],
        "asked_again": load.again,
        "unanswered": load.unanswered,
        "broken_answers": load.broken_answers,
    }


def _ended(stack: Stack, load: Load) -> Figures:
    """What became of it. `jobs_nobody_knows` were accepted by a process that died before it could say so."""
    there = {UUID(str(job_id)) for (job_id,) in rows(stack, "SELECT id FROM synth_job")}
    known = {parse_id("job", job) for job in load.jobs}
    failed = f"SELECT count(*) FROM synth_job WHERE state = 'failed' AND error_code <> '{UNLUCKY}'"
    return {
        "lost": len(known - there),
        "jobs_nobody_knows": len(there - known),
        "unlucky": jobs_in(stack, "failed") - number(stack, failed),
        "failed": number(stack, failed),
    }


ROW = Row(
    name="chaos",
    title="processes killed -9 and servers restarted at random under mixed jobs",
    play=play,
    short={"jobs": 60, "clients": 4, "pause": 1.2, "every": 3.0, "run": 0.1, "lease": 2.0},
    long={"jobs": 300, "clients": 4, "pause": 1.6, "every": 4.0, "run": 0.3, "lease": 5.0},
    limits={
        "unanswered": 0,
        "broken_answers": 0,
        "faults_missing": 0,
        "lost": 0,
        "failed": 0,
        "objects_beyond_kills": 0,
        **LIMITS,
    },
)
