"""What a new user is shown works as it is pasted."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.launch.launched import Launched

pytestmark = pytest.mark.stack


def paste(line: str, directory: Path) -> str:
    done = subprocess.run(["bash", "-c", line], cwd=directory, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_the_curl_lines_speak_as_pasted(launch: Callable[..., Launched], tmp_path: Path) -> None:
    launched = launch()
    launched.wait_for("The same with an address")
    launched.wait_for(f"User        {launched.demo['REFRAIN_ADMIN_USER']}")
    launched.wait_for(f"Password    {launched.demo['REFRAIN_ADMIN_PASSWORD']}")
    *to_files, to_terminal = [line for line in launched.output.splitlines() if line.startswith("curl ")]
    for line, name in zip(to_files, ["zh.mp3", "en.mp3", "ja.mp3"], strict=True):
        paste(line, tmp_path)
        probe = f"ffprobe -v error -show_entries format=format_name -of csv=p=0 {name}"
        assert paste(probe, tmp_path).strip() == "mp3"
    answer = json.loads(paste(to_terminal, tmp_path))
    assert answer["from_cache"] is True
    audio = paste(f"curl -sS -o again.mp3 -w '%{{http_code}}' '{answer['url']}'", tmp_path)
    assert audio == "200"
    assert (tmp_path / "again.mp3").read_bytes() == (tmp_path / "zh.mp3").read_bytes()


def test_an_engine_that_cannot_speak_is_told_with_its_reason(launch: Callable[..., Launched]) -> None:
    launched = launch(env={"REFRAIN_ENGINES": "counting,missing"})
    launched.wait_for("The engine missing cannot speak: ")
    launched.wait_for("The same with an address")
