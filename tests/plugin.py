"""Sets up a test run before Django reads its settings: the database, a Redis, and an empty data folder.

pytest loads it by `-p tests.plugin`; a conftest would come too late.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from tests.servers.postgres import PostgresServer
from tests.servers.redis import RedisServer

SQLITE = "sqlite"
POSTGRESQL = "postgresql"
# What decides that a test reads or writes rows, and so runs again on PostgreSQL.
DATABASE_FIXTURES = frozenset({"db", "transactional_db", "live_server", "make_stack", "make_shared_stack"})
STARTERS = frozenset({"make_stack", "make_shared_stack", "launch"})
SECRET_KEY = "tests-only-" + "x" * 50
# A developer's own settings must not reach the tests.
OURS = ("REFRAIN_", "REDIS_", "S3_", "CELERY_", "DATABASE_", "EMAIL_")


class TestRun:
    """The servers and the folder of one pytest process."""

    __test__ = False

    def __init__(self, database: str) -> None:
        self.database = database
        self.directory = Path(tempfile.mkdtemp(prefix="refrain-tests-"))
        self.redis = RedisServer(self.directory / "redis")
        self.postgres = PostgresServer() if database == POSTGRESQL else None
        # What was set before, for the tests that look for a checkout of somebody else's code.
        self.developers = {name: value for name, value in os.environ.items() if name.startswith(OURS)}

    @property
    def database_url(self) -> str:
        if self.postgres:
            return self.postgres.url("refrain")
        return f"sqlite:///{self.directory / 'refrain.sqlite3'}"

    def start(self) -> None:
        self.redis.start()
        if self.postgres:
            self.postgres.start()
            self.postgres.create_database("refrain")
        for name in [name for name in os.environ if name.startswith(OURS)]:
            del os.environ[name]
        os.environ["REFRAIN_SECRET_KEY"] = SECRET_KEY
        os.environ["REFRAIN_VAR_DIR"] = str(self.directory / "var")
        os.environ["DATABASE_URL"] = self.database_url
        os.environ["REDIS_URL"] = self.redis.url

    def stop(self) -> None:
        self.redis.stop()
        if self.postgres:
            self.postgres.remove()
        shutil.rmtree(self.directory, ignore_errors=True)


TEST_RUN = pytest.StashKey[TestRun]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database",
        choices=[SQLITE, POSTGRESQL],
        default=SQLITE,
        help="where rows live; with postgresql only those tests run to which the database can make a difference",
    )
    parser.addoption(
        "--engine-packages", default="", help="what REFRAIN_ENGINE_PACKAGES is in this run: whose engines are tested"
    )


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    test_run = TestRun(early_config.known_args_namespace.database)
    early_config.stash[TEST_RUN] = test_run
    try:
        test_run.start()
        if packages := early_config.known_args_namespace.engine_packages:
            os.environ["REFRAIN_ENGINE_PACKAGES"] = packages
        return (yield)
    except BaseException:
        test_run.stop()
        raise


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[TEST_RUN].stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the rows of the scoreboard counted."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "figures":
                terminalreporter.write_line(str(value))


def pytest_report_header(config: pytest.Config) -> str:
    return f"database: {config.stash[TEST_RUN].database}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.stash[TEST_RUN].database == POSTGRESQL:
        config.hook.pytest_deselected(items=[item for item in items if not runs_on_both(item)])
        items[:] = [item for item in items if runs_on_both(item)]
    for item in items:
        if group := shared_with(item):
            item.add_marker(pytest.mark.xdist_group(group))
    if hasattr(config, "workerinput"):
        items[:] = spread(items)


def shared_with(item: pytest.Item) -> str:
    """What a test shares that costs seconds to make: all that share it run in one worker of pytest-xdist."""
    if item.get_closest_marker("speech"):
        return "speech"
    return item.nodeid.partition("::")[0] if "make_shared_stack" in fixtures_of(item) else ""


def spread(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Those that start processes among the others, so that not all workers wait at once; none comes near the end."""
    starters = [item for item in items if fixtures_of(item) & STARTERS]
    others = [item for item in items if not fixtures_of(item) & STARTERS]
    step = 0.85 * len(others) / max(1, len(starters))
    places = [(number * step, item) for number, item in enumerate(starters)]
    places += [(number + 0.5, item) for number, item in enumerate(others)]
    return [item for _, item in sorted(places, key=lambda place: place[0])]


def runs_on_both(item: pytest.Item) -> bool:
    """Whatever uses a database, but for those marked to whom it makes no difference which."""
    uses_database = bool(fixtures_of(item) & DATABASE_FIXTURES) or item.get_closest_marker("django_db")
    return bool(uses_database) and not item.get_closest_marker("any_database")


def fixtures_of(item: pytest.Item) -> frozenset[str]:
    return frozenset(getattr(item, "fixturenames", ()))
