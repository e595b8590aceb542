"""Redis and PostgreSQL are restarted under running processes, which go on without being restarted themselves."""

from __future__ import annotations

from urllib.parse import urlsplit

import psycopg
import pytest

from tests.conftest import StackMaker
from tests.faults.asking import crowd
from tests.servers.tcp_proxy import TcpProxy
from tests.stack import Stack

pytestmark = pytest.mark.stack


@pytest.fixture
def running(stack: Stack) -> Stack:
    stack.api()
    stack.engine_worker()
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    return stack


def say(stack: Stack, text: str) -> int:
    return crowd(stack, [{"text": text, "wait": 60}])[0].status


def test_work_goes_on_after_the_broker_was_killed(running: Stack) -> None:
    assert say(running, "Before.") == 200
    running.redis.kill()
    crowd(running, [{"text": "Meanwhile.", "wait": 0}])
    running.redis.start()
    assert say(running, "Afterwards.") == 200
    assert say(running, "Meanwhile.") == 200
    assert len(running.runs()) == 3


def test_connections_that_the_database_dropped_are_not_used_again(running: Stack) -> None:
    url = running.seeded.url
    if not url.startswith("postgresql"):
        pytest.skip("a file drops no connections")
    assert say(running, "Before.") == 200
    with psycopg.connect(url, autocommit=True) as connection:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        dropped = connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
        assert dropped.fetchall()
    assert say(running, "Afterwards.") == 200


def test_a_worker_that_starts_before_its_database_is_used_once_that_is_there(make_stack: StackMaker) -> None:
    stack = make_stack()
    address = urlsplit(stack.seeded.url)
    if address.scheme != "postgresql":
        pytest.skip("a file is always there")
    with TcpProxy(address.port or 5432) as way:
        way.stop()
        away = address._replace(netloc=f"{address.username}@127.0.0.1:{way.port}").geturl()
        (worker,) = stack.engine_worker(env={"DATABASE_URL": away})
        stack.wait_until(lambda: "not published yet" in worker.output(), seconds=60, what="a card in vain")
        way.start()
        stack.api()
        stack.wait_for_engines()
