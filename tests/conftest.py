"""Fixtures that every test may use. What must be set before Django reads its settings is in plugin.py."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, connections
from redis import Redis

from tests.plugin import TEST_RUN, TestRun
from tests.servers.databases import SeededDatabases
from tests.servers.postgres import PostgresServer
from tests.servers.redis import RedisServer
from tests.stack import Stack


def pytest_configure() -> None:
    """What costs much in this process and proves nothing here; the processes of a stack have the real settings."""
    # Passwords of tests guard nothing; Django's own hasher takes half a second for each.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Every test client builds the middleware anew; this one would read all static files each time.
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session")
def test_run(pytestconfig: pytest.Config) -> TestRun:
    return pytestconfig.stash[TEST_RUN]


@pytest.fixture(scope="session")
def redis_server(test_run: TestRun) -> RedisServer:
    """The Redis that the settings name. A test may kill or freeze it; the next one finds it running and empty."""
    return test_run.redis


@pytest.fixture(scope="session")
def _redis_client(redis_server: RedisServer) -> Iterator[Redis]:
    with redis_server.client() as client:
        yield client


@pytest.fixture(autouse=True)
def _empty_redis(redis_server: RedisServer, _redis_client: Redis) -> None:
    redis_server.start()
    _redis_client.flushall()


@pytest.fixture(autouse=True)
def _no_notes_from_other_tests() -> Iterator[None]:
    """Notes of a test are its own, and no thread writes them into the next one."""
    from synth import engine_time, observed, paces

    recorders = (engine_time._recorder, observed._recorder, paces._recorder)
    for recorder in recorders:
        recorder.interval = 3600
    paces.forget()
    yield
    for recorder in recorders:
        recorder._notes.clear()


@pytest.fixture(autouse=True)
def _no_renewals_from_other_tests(_django_db_marker: None) -> Iterator[None]:
    """What a test has asked to be made anew is queued, or given up, before its rows go: hence the marker."""
    from tests.renewals import renewals_done

    yield
    renewals_done()


@pytest.fixture
def as_owner(db: None) -> Callable[..., None]:
    """SQL of one who owns the tables: the triggers that keep the audit do not hold him."""
    on_postgres = connection.vendor == "postgresql"

    def execute(statement: str, *values: object) -> None:
        with connection.cursor() as cursor:
            if on_postgres:
                cursor.execute("SET LOCAL session_replication_role = replica")
            found = [value.hex if hasattr(value, "hex") and not on_postgres else value for value in values]
            cursor.execute(statement, found)

    return execute


@pytest.fixture(scope="session")
def postgres_server(test_run: TestRun) -> Iterator[PostgresServer]:
    """The one of the test run, or else one of its own, for tests that need PostgreSQL whatever the run is on."""
    if test_run.postgres:
        yield test_run.postgres
        return
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def django_db_modify_db_settings(test_run: TestRun) -> None:
    """SQLite in a file: in memory it has neither WAL nor a second process."""
    if not test_run.postgres:
        connections["default"].settings_dict["TEST"]["NAME"] = str(test_run.directory / "test.sqlite3")


@pytest.fixture(scope="session")
def django_db_use_migrations(test_run: TestRun) -> bool:
    """On SQLite the tables are made from the models, which `make lint` holds to the migrations: seconds sooner.

    PostgreSQL is migrated, and so is the database of every stack.
    """
    return test_run.postgres is not None


@pytest.fixture(scope="session")
def _seeded_databases(test_run: TestRun) -> SeededDatabases:
    return SeededDatabases(test_run.directory / "databases", test_run.postgres)


class StackMaker:
    """Makes started stacks, each with a database of its own; takes the keywords of Stack."""

    def __init__(self, directory: Path, databases: SeededDatabases) -> None:
        self._directory = directory
        self._databases = databases
        self.stacks: list[Stack] = []

    def __call__(self, **options: Any) -> Stack:
        stack = Stack(self._directory / f"stack{len(self.stacks)}", self._databases.fresh(), **options)
        self.stacks.append(stack)
        return stack.start()


@pytest.fixture
def make_stack(_seeded_databases: SeededDatabases, tmp_path: Path) -> Iterator[StackMaker]:
    maker = StackMaker(tmp_path, _seeded_databases)
    yield maker
    for stack in maker.stacks:
        stack.stop()


@pytest.fixture(scope="module")
def make_shared_stack(
    _seeded_databases: SeededDatabases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StackMaker]:
    """For the stack of a whole file. Each test takes a text or a tenant of its own, and starts Redis if it is down."""
    maker = StackMaker(tmp_path_factory.mktemp("shared"), _seeded_databases)
    yield maker
    for stack in maker.stacks:
        stack.stop()


@pytest.fixture
def stack(make_stack: StackMaker) -> Stack:
    """A stack with the counting engine; it has no processes yet."""
    return make_stack()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the processes of a stack wrote, beside the failure that it explains."""
    report = yield
    used = getattr(item, "funcargs", {})
    for maker in (used.get("make_stack"), used.get("make_shared_stack")):
        if report.failed and maker is not None:
            report.sections.extend((f"logs of {stack.directory.name}", stack.log_tails()) for stack in maker.stacks)
    return report
