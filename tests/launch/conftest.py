"""Fixtures of the launcher's tests."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.launch.launched import Launched
from tests.servers.databases import SeededDatabases


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


@pytest.fixture
def launch_migrated(
    launch: Callable[..., Launched], tmp_path: Path, _seeded_databases: SeededDatabases
) -> Callable[..., Launched]:
    """The same on a database whose tables are there: seconds sooner, where a first start is not what is looked at."""
    (tmp_path / "var").mkdir(mode=0o700)
    shutil.copyfile(_seeded_databases.fresh().url.removeprefix("sqlite:///"), tmp_path / "var" / "refrain.sqlite3")
    return launch
