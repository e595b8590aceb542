"""A real S3-compatible server (nanio) in a virtual environment of its own, for every test that needs a bucket."""

from __future__ import annotations

import fcntl
import http.client
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from tests.servers.ports import free_port
from ttsproject.launch.leash import leashed

REQUIREMENT = "nanio==0.1.7"
ENVIRONMENT = Path(__file__).resolve().parents[2] / ".venvs" / "nanio"
START_SECONDS = 30.0
STOP_SECONDS = 10.0


class NanioServer:
    """One server with one bucket; data and address stay the same over kill() and start().

    Use it as a context manager, or call start() and stop().
    """

    access_key = "refrain-tests"
    secret_key = "refrain-tests-secret"
    bucket = "audio"

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def options(self) -> dict[str, str]:
        """What `synth.storage.s3.open_store` takes."""
        return {
            "bucket": self.bucket,
            "region": "us-east-1",
            "endpoint": self.endpoint,
            "access_key": self.access_key,
            "secret_key": self.secret_key,
            "addressing_style": "path",
        }

    @property
    def environment(self) -> dict[str, str]:
        """What Refrain's processes take."""
        return {
            "REFRAIN_STORAGE": "s3",
            "S3_BUCKET": self.bucket,
            "S3_ENDPOINT_URL": self.endpoint,
            "S3_ACCESS_KEY_ID": self.access_key,
            "S3_SECRET_ACCESS_KEY": self.secret_key,
            "S3_ADDRESSING_STYLE": "path",
        }

    def start(self) -> None:
        """Start, wait until it answers, and make sure that the bucket is there."""
        program = ensure_environment() / "bin" / "nanio"
        data = self._directory / "data"
        data.mkdir(parents=True, exist_ok=True)
        place = ["--host", "127.0.0.1", "--port", str(self.port), "--data-dir", str(data)]
        command = leashed([str(program), "serve", *place])
        keys = {"NANIO_ACCESS_KEY": self.access_key, "NANIO_SECRET_KEY": self.secret_key}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # one worker, so this process is the whole server
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | keys
            )
        self._wait_until_it_answers()
        self._ensure_bucket()

    def stop(self) -> None:
        self._end(kill=False)

    def kill(self) -> None:
        """As a crash would: no time to tidy up."""
        self._end(kill=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def _log(self) -> Path:
        return self._directory / "nanio.log"

    def _end(self, *, kill: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if not kill:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                kill = True
        if kill:
            process.kill()
            process.wait(STOP_SECONDS)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(self.port):
            gone = self._process is None or self._process.poll() is not None
            if gone or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"nanio did not start:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.05)

    def _ensure_bucket(self) -> None:
        import boto3

        client = boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
        )
        if self.bucket not in {bucket["Name"] for bucket in client.list_buckets()["Buckets"]}:
            client.create_bucket(Bucket=self.bucket)


def ensure_environment() -> Path:
    """The server's virtual environment, made on first use; parallel test processes wait for the one that makes it."""
    ENVIRONMENT.parent.mkdir(exist_ok=True)
    finished = ENVIRONMENT / "installed"
    with (ENVIRONMENT.parent / "nanio.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists() or finished.read_text() != REQUIREMENT:
            subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
            subprocess.run([ENVIRONMENT / "bin" / "pip", "install", "-qq", REQUIREMENT], check=True)
            finished.write_text(REQUIREMENT)
    return ENVIRONMENT


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
