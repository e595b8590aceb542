"""However the launcher ends, none of the processes that it started is left."""

import os
import signal
from collections.abc import Callable

import pytest

from tests.launch.launched import Launched, wait_until

pytestmark = pytest.mark.stack


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_everything_in_good_order(
    launch_migrated: Callable[..., Launched], number: signal.Signals
) -> None:
    launched = launch_migrated()
    launched.wait_until_up()
    assert len(launched.processes()) >= 7  # Redis, API and its worker, engine and its child, io, beat
    assert launched.end(number) == 0
    assert launched.processes() == {}
    assert "Everything has stopped." in launched.output
    assert "killed" not in launched.output


def test_a_stop_while_it_still_starts_leaves_nothing_either(launch: Callable[..., Launched]) -> None:
    launched = launch()
    wait_until(lambda: any("migrate" in command for command in launched.processes().values()))
    assert launched.end(signal.SIGINT) == 0
    assert launched.processes() == {}


def test_a_killed_launcher_takes_everything_with_it(launch_migrated: Callable[..., Launched]) -> None:
    launched = launch_migrated()
    launched.wait_until_up()
    launched.end(signal.SIGKILL)
    wait_until(lambda: not launched.processes(), seconds=10, what=str(launched.processes()))


def test_what_does_not_listen_is_killed(launch_migrated: Callable[..., Launched]) -> None:
    """A stopped process cannot act on SIGTERM; a second Ctrl-C does not wait for it."""
    launched = launch_migrated()
    launched.wait_until_up()
    (frozen,) = launched.like("--queues io")
    os.kill(frozen, signal.SIGSTOP)
    launched.process.send_signal(signal.SIGINT)
    launched.wait_for("Stopping everything")
    assert launched.end(signal.SIGINT) == 0
    assert launched.processes() == {}
