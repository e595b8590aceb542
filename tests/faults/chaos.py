"""Chaos: mixed jobs, batches and callbacks while processes are killed with kill -9 and servers restarted at random.

Everything that was accepted ends, once, and is told; and in the end rows, objects and Redis say the same.
"""

from __future__ import annotations

import random

from tests.faults import listening, mixed_load, outcomes, reconciling
from tests.faults.asking import wait_until_all_end
from tests.faults.disturbing import Disturber
from tests.faults.ground import started
from tests.faults.listening import Listener
from tests.faults.mixed_load import Load, Mix
from tests.faults.reconciling import objects_in_folder, reconciled
from tests.faults.scoreboard import Figures, MakeStack, Row


def play(
    make_stack: MakeStack, *, seed: int, jobs: int, clients: int, pause: float, every: float, run: float, lease: float
) -> Figures:
    with Listener.open() as listener:
        env = _environment(run, lease) | listener.environment
        stack = started(make_stack, env, apis=2, engine_workers=2, io_workers=2)
        listener.subscribe(stack)
        load = Load(stack, Mix(seed, callbacks=listener.callbacks), clients=clients, pause=pause)
        disturber = Disturber(stack, random.Random(seed))
        with load.asking():
            disturber.play(every=every, until=lambda: load.made >= jobs)
        seconds = wait_until_all_end(stack, len(load.jobs), seconds=120)
        told = listener.figures(stack, load.awaited)
        compared = reconciled(stack, objects_in_folder(stack), cache=stack.redis)
        return {
            **load.figures(),
            **{f"faults_{name}": count for name, count in sorted(disturber.played.items())},
            "faults_missing": disturber.missing,
            **outcomes.outcomes(stack, load),
            "seconds_to_end": seconds,
            **told,
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


ROW = Row(
    name="chaos",
    title="processes killed -9 and servers restarted at random under jobs, batches and callbacks",
    play=play,
    short={"jobs": 60, "clients": 4, "pause": 0.8, "every": 2.5, "run": 0.1, "lease": 2.0},
    long={"jobs": 300, "clients": 4, "pause": 1.6, "every": 4.0, "run": 0.3, "lease": 5.0},
    limits={
        "faults_missing": 0,
        "objects_beyond_kills": 0,
        **mixed_load.LIMITS,
        **outcomes.LIMITS,
        **listening.LIMITS,
        **reconciling.LIMITS,
    },
)
