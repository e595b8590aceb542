"""An engine that hangs is killed at its deadline; its job fails after three attempts, and the worker lives on."""

from __future__ import annotations

import pytest

from tests.engines.counting import HANG
from tests.faults.asking import crowd, jobs_in, rows, runs_of, wait_until_all_end
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.any_database]


def test_a_hung_run_ends_at_its_deadline_and_the_worker_goes_on(make_stack) -> None:
    stack: Stack = make_stack(
        env={
            "REFRAIN_DEADLINE": "1",
            "REFRAIN_DEADLINE_FACTOR": "0",
            "REFRAIN_LEASE": "1",
            "REFRAIN_HEARTBEAT": "0.3",
        }
    )
    stack.api()
    (worker,) = stack.engine_worker()
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    hung = f"Please {HANG} now."
    crowd(stack, [{"text": hung, "wait": 0}, {"text": "This one is well.", "wait": 0}])
    wait_until_all_end(stack, 2, seconds=90)
    errors = rows(stack, "SELECT state, error_code FROM synth_job ORDER BY state")
    assert errors == [("failed", "worker_lost"), ("succeeded", "")]
    assert runs_of(stack, hung) == 3

    assert worker.alive
    (after,) = crowd(stack, [{"text": "And so is this one.", "wait": 60}])
    assert (after.status, jobs_in(stack, "succeeded")) == (200, 2)
