"""What the first start made is still there after the second: rows, keys, the admin user, what Redis held."""

import signal
import sqlite3
import stat
from collections.abc import Callable

import pytest
import redis
from dotenv import dotenv_values

from tests.launch.launched import Launched

pytestmark = pytest.mark.stack


def redis_of(launched: Launched) -> redis.Redis:
    return redis.Redis.from_url(dotenv_values(launched.var / "run.env")["REDIS_URL"] or "")


def test_a_second_start_keeps_data_and_makes_no_second_key(launch: Callable[..., Launched]) -> None:
    first = launch()
    first.wait_until_up()
    demo = first.demo
    assert demo["REFRAIN_URL"] == f"http://127.0.0.1:{first.port}"
    assert demo["REFRAIN_API_KEY"].startswith("rfr_live_")
    assert demo["REFRAIN_ADMIN_USER"] == "admin"
    assert len(demo["REFRAIN_ADMIN_PASSWORD"]) >= 12
    assert redis_of(first).set("kept", "yes")
    first.end(signal.SIGINT)

    second = launch()
    second.wait_until_up()
    assert redis_of(second).get("kept") == b"yes"
    assert second.demo == {**demo, "REFRAIN_URL": f"http://127.0.0.1:{second.port}"}
    with sqlite3.connect(second.var / "refrain.sqlite3") as rows:
        counts = [rows.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES]
    assert counts == [1, 1, 1]


def test_a_demo_file_that_cannot_be_read_is_written_anew(launch: Callable[..., Launched]) -> None:
    first = launch()
    first.wait_for("Started")
    first.end(signal.SIGINT)
    (first.var / "demo.env").write_bytes(b"REFRAIN_API_KEY=\xff\xfe\x00\n")
    second = launch()
    second.wait_for("Started")
    assert second.demo["REFRAIN_API_KEY"].startswith("rfr_live_")


TABLES = ("tenants_tenant", "tenants_apikey", "auth_user")


def test_files_with_secrets_are_the_owners_alone(launch: Callable[..., Launched]) -> None:
    launched = launch()
    launched.wait_for("Started")
    for name in ("demo.env", "secret_key", "run.env", "refrain.sqlite3"):
        assert stat.S_IMODE((launched.var / name).stat().st_mode) == 0o600
    secret = (launched.var / "secret_key").read_text()
    assert len(secret) >= 50
    assert secret not in launched.output
