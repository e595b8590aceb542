"""A second `make run` on the same data is refused, whatever its port, and the first does not notice."""

from collections.abc import Callable

import pytest

from tests.launch.launched import Launched
from tests.launch.test_what_prevents_a_start import refused

pytestmark = pytest.mark.stack


def test_a_second_start_names_the_first_and_leaves_it_alone(launch_migrated: Callable[..., Launched]) -> None:
    first = launch_migrated()
    first.wait_for("Started")
    processes = set(first.processes())
    sentence = refused(first.var)
    assert sentence.startswith("Refrain runs already")
    assert f"(process {first.process.pid})" in sentence
    assert processes <= set(first.processes())
