"""Fixtures of the launcher's tests."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.launch.launched import Launched


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Launched]]:
    """Starts launchers on one data folder, one after the other; the folder is made by the first."""
    started: list[Launched] = []

    def start(**options: Any) -> Launched:
        started.append(Launched(tmp_path / "var", **options))
        return started[-1]

    yield start
    for launched in started:
        launched.clean_up()
