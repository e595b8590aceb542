"""What runs in the containers: the health checks, both Redis with their files, and the bucket that is made first."""

from __future__ import annotations

import http.server
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from redis import Redis
from redis.exceptions import AuthenticationError, ConnectionError  # noqa: A004 - redis-py's own

from synth import wiring
from synth.errors import ObjectMissing
from synth.storage import s3
from tests.deploy.compose import ROOT, SERVICES
from tests.servers.nanio import NanioServer
from tests.servers.ports import free_port
from ttsproject.launch import alive, container
from ttsproject.launch.leash import leashed
from ttsproject.launch.valkey import command as valkey_command

pytestmark = pytest.mark.any_database


@contextmanager
def answering(status: int) -> Iterator[tuple[int, list[Any]]]:
    """A server on this machine that answers everything so, and the headers that it was asked with."""
    asked: list[Any] = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, dict(self.headers)))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, asked
        server.shutdown()


@pytest.mark.parametrize(("status", "expected"), [(200, True), (503, False)])
def test_a_worker_is_alive_while_its_metrics_answer(monkeypatch: Any, status: int, expected: bool) -> None:
    with answering(status) as (port, asked):
        monkeypatch.setenv("REFRAIN_METRICS_PORT", str(port))
        assert alive.worker() is expected
    assert asked[0][0] == "/metrics"
    assert alive.worker() is False  # nobody is there any more


def test_the_api_is_asked_as_its_proxy_asks(monkeypatch: Any) -> None:
    with answering(200) as (port, asked):
        assert alive._answers(f"http://127.0.0.1:{port}/readyz", {"X-Forwarded-Proto": "https"})
    assert asked[0][1]["X-Forwarded-Proto"] == "https"


def test_the_scheduler_is_alive_while_it_writes_its_schedule(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("REFRAIN_VAR_DIR", str(tmp_path))
    assert alive.beat() is False
    file = tmp_path / "celerybeat-schedule.db"
    file.touch()
    assert alive.beat() is True
    os.utime(file, (0, time.time() - alive.LATEST - 1))
    assert alive.beat() is False


def test_the_health_check_needs_nothing_of_refrain() -> None:
    """It runs every half minute: what it imports is paid each time."""
    words = [sys.executable, "-I", str(ROOT / "ttsproject/launch/alive.py"), "worker"]
    told = {"REFRAIN_METRICS_PORT": str(free_port())}
    done = subprocess.run(words, env=told, cwd="/", capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


def test_threads_follow_the_seats_for_those_who_wait(monkeypatch: Any) -> None:
    monkeypatch.setenv("REFRAIN_MAX_WAITERS", "100")
    words = container.command("api")
    assert words[words.index("--blocking-threads") + 1] == "116"
    assert words[words.index("--host") + 1] == "0.0.0.0"


@pytest.mark.parametrize(("name", "policy"), [("cache", "volatile-lfu"), ("broker", "noeviction")])
def test_each_redis_has_its_policy_and_its_password(name: str, policy: str, secrets: Path, tmp_path: Path) -> None:
    file, inside = next(item.split(":")[:2] for item in SERVICES[name]["volumes"] if item.startswith("./"))
    port = free_port()
    there = {
        inside: str(ROOT / file),
        "/data": str(tmp_path),
        f"/run/secrets/{name}_login": str(secrets / f"{name}_login"),
    }
    words = [there.get(word, word) for word in SERVICES[name]["command"][1:]]
    words = [valkey_command(tmp_path, port, {})[0], *words, "--port", str(port)]
    login = there[f"/run/secrets/{name}_login"]
    with subprocess.Popen(leashed(words), stdout=subprocess.DEVNULL) as server:
        try:
            redis = Redis(port=port, password=Path(login).read_text().split()[1])
            _wait_for(redis, server)
            told = redis.config_get("maxmemory-policy", "appendonly", "maxmemory")
            assert (told["maxmemory-policy"], told["appendonly"]) == (policy, "yes")
            assert int(told["maxmemory"]) * 1.5 < _bytes(SERVICES[name]["deploy"]["resources"]["limits"]["memory"])
            with pytest.raises(AuthenticationError):
                Redis(port=port).ping()
        finally:
            server.terminate()


def test_the_bucket_is_made_once(settings: Any, tmp_path: Path) -> None:
    with NanioServer(tmp_path) as server:
        options = {**server.options, "bucket": "refrain"}
        settings.REFRAIN = {**settings.REFRAIN, "STORAGE": "s3", "STORAGE_OPTIONS": {"s3": options}}
        told = [_told(), _told()]
        assert [line.split(" is ")[1].strip() for line in told] == ["made.", "there already."]
        with pytest.raises(ObjectMissing):
            s3.open_store(options).get("nothing")
    wiring.forget_parts()
    with pytest.raises(CommandError, match="HeadBucket"):
        _told()


def _told() -> str:
    stderr = StringIO()
    call_command("make_bucket", stderr=stderr, no_color=True)
    return stderr.getvalue()


def _wait_for(redis: Any, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            redis.ping()
        except ConnectionError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
        else:
            return
        time.sleep(0.05)


def _bytes(text: str) -> int:
    return int(text[:-1]) * {"M": 2**20, "G": 2**30}[text[-1]]
