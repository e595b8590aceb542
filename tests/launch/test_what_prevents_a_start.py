"""What is in the way is told in one sentence, before anything is started."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.launch.launched import ROOT, launch_environment
from tests.servers.ports import free_port


def refused(var: Path, *, port: int | None = None, script: str = "-mttsproject.launch", **env: str) -> str:
    """The one line that a start says which is refused."""
    done = subprocess.run(
        [sys.executable, script],
        cwd=ROOT,
        env=launch_environment(var, port or free_port()) | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 1
    assert not done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize("script", ["-mttsproject.launch", "ttsproject/launch/preflight.py"])
def test_a_taken_port_is_named_with_a_way_out(tmp_path: Path, script: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        sentence = refused(tmp_path, port=port, script=script)
    assert f"Port {port}" in sentence
    assert "make run PORT=" in sentence


@pytest.mark.parametrize("script", ["-mttsproject.launch", "ttsproject/launch/preflight.py"])
def test_too_little_disk_is_told_with_figures(tmp_path: Path, script: str) -> None:
    sentence = refused(tmp_path, script=script, REFRAIN_MIN_FREE_GB="1000000")
    assert re.search(r"has [\d.]+ GB free and Refrain needs 100000\d\.\d GB", sentence)  # more where it must install
    assert str(tmp_path) in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["run.lock"]


@pytest.mark.parametrize("port", ["eighty", "0", "65536", "-1"])
def test_a_port_that_is_none_is_told(tmp_path: Path, port: str) -> None:
    assert f"PORT is '{port}'" in refused(tmp_path, PORT=port)
