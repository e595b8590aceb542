"""These tests need torch: `make test-engines` runs them in its own environment, `make test` passes them over."""

import importlib.util
from pathlib import Path

import pytest

from tests.plugin import TestRun

collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["test_*.py"]


@pytest.fixture(scope="session")
def checkouts(test_run: TestRun) -> "Checkouts":
    return Checkouts(test_run.developers)


class Checkouts:
    """Where the developer's own copies of other projects lie, which no test brings along."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment

    def named(self, variable: str) -> str:
        return self._environment.get(variable, "")

    def of(self, variable: str) -> Path:
        """The folder that the variable names; the test is skipped where it names none."""
        named = self.named(variable)
        if not named:
            pytest.skip(f"{variable} names no checkout of upstream's code: nothing of it was run")
        path = Path(named).resolve()
        assert path.is_dir(), f"{variable} is {named}, which is no directory"
        return path
