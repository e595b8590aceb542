"""Sets up a test run before Django reads its settings: the database, a Redis, and an empty data folder.

pytest loads it by `-p tests.plugin`; a conftest would come too late.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.servers.postgres import PostgresServer
from tests.servers.redis import RedisServer

SQLITE = "sqlite"
POSTGRESQL = "postgresql"
# What decides that a test reads or writes rows, and so runs again on PostgreSQL.
DATABASE_FIXTURES = frozenset({"db", "transactional_db", "live_server", "make_stack", "stack"})
SECRET_KEY = "tests-only-" + "x" * 50
# A developer's own settings must not reach the tests.
OURS = ("REFRAIN_", "REDIS_", "S3_", "CELERY_", "DATABASE_")


class TestRun:
    """The servers and the folder of one pytest process."""

    __test__ = False

    def __init__(self, database: str) -> None:
        self.database = database
        self.directory = Path(tempfile.mkdtemp(prefix="refrain-tests-"))
        self.redis = RedisServer(self.directory / "redis")
        self.postgres = PostgresServer() if database == POSTGRESQL else None

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
        help="where rows live; with postgresql only the tests that use a database run",
    )


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    test_run = TestRun(early_config.known_args_namespace.database)
    early_config.stash[TEST_RUN] = test_run
    try:
        test_run.start()
        return (yield)
    except BaseException:
        test_run.stop()
        raise


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[TEST_RUN].stop()


def pytest_report_header(config: pytest.Config) -> str:
    return f"database: {config.stash[TEST_RUN].database}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.stash[TEST_RUN].database == SQLITE:
        return
    chosen = [item for item in items if uses_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if not uses_database(item)])
    items[:] = chosen


def uses_database(item: pytest.Item) -> bool:
    fixtures = frozenset(getattr(item, "fixturenames", ()))
    return bool(fixtures & DATABASE_FIXTURES) or item.get_closest_marker("django_db") is not None
