"""The stack itself: processes that speak, are killed, and leave nothing behind."""

import signal
from pathlib import Path

import pytest

from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.any_database]


def test_it_speaks_through_every_process_and_counts_the_runs(stack: Stack) -> None:
    stack.engine_worker()
    stack.io_worker()
    stack.api(2)
    stack.wait_for_engines()
    text = "The stack speaks."
    for api in [child for child in stack.children if child.port]:
        with stack.client(api) as client:
            answer = client.post("/v1/speech", json={"text": text, "wait": 30, "format": "wav"})
        assert answer.status_code == 200, answer.text
    assert [run["text"] for run in stack.runs()] == [text]


def test_a_killed_process_takes_its_children_along(stack: Stack) -> None:
    (worker,) = stack.engine_worker()
    assert len(living_members(worker.pid)) == 2  # the worker and the child of its pool
    stack.kill(worker, signal.SIGKILL)
    stack.wait_until(lambda: not living_members(worker.pid), seconds=5)


def living_members(group: int) -> list[str]:
    """The processes of a group; zombies are dead, even where nobody reaps them."""
    stats = [path.read_text().rpartition(")")[2].split() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    return [state for state, _parent, member, *_ in stats if int(member) == group and state != "Z"]


def test_each_stack_has_rows_of_its_own(make_stack) -> None:
    one, other = make_stack(), make_stack()
    one.run("create_tenant", "Only here")
    count = "from tenants.models import Tenant; print(Tenant.objects.count())"
    assert int(one.run("shell", "-v0", "-c", count)) == int(other.run("shell", "-v0", "-c", count)) + 1
