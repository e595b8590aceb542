"""U1: uploads that are no honest recording, at a process that reads them as the io worker does."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tests.faults.hostile_files import Hostile, crafted, honest, mutations, wrong_answers
from tests.faults.scoreboard import Figures, MakeStack, Row

READER = (sys.executable, "-m", "tests.faults.hostile_reader")
# One upload may take 30 s; all of them together far less than that each.
MOST_SECONDS = 3000.0


def play(_make_stack: MakeStack, *, seed: int, changed: int) -> Figures:
    with tempfile.TemporaryDirectory(prefix="refrain-uploads-") as folder:
        expected = {}
        for number, file in enumerate(corpus(seed, changed)):
            name = f"{number:05}"
            (Path(folder) / name).write_bytes(file.data)
            expected[name] = file
        ran = subprocess.run([*READER, folder], stdout=subprocess.PIPE, check=False, timeout=MOST_SECONDS)
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    told, ends = lines[:-1], lines[-1] if ran.returncode == 0 else {}
    return {
        "worker_deaths": int(ran.returncode != 0),
        "unanswered": len(expected) - len(told),
        "wrong_answers": wrong_answers("U1", ((expected[line["name"]], line["answer"]) for line in told)),
        "slowest_s": max(line["seconds"] for line in told),
        "left_behind": ends.get("left_behind", 1),
        "worker_growth_mb": ends.get("growth_mb", 1e6),
        "decoder_peak_mb": ends.get("decoder_peak_mb", 1e6),
    }


def corpus(seed: int, changed: int) -> Iterator[Hostile]:
    return chain(honest(), crafted(), mutations(changed, seed=seed))


ROW = Row(
    name="U1",
    title="hostile uploads: forged, cut, polyglot, bombs, mutations",
    play=play,
    short={"changed": 20},
    long={"changed": 1000},
    limits={
        "worker_deaths": 0,
        "unanswered": 0,
        "wrong_answers": 0,
        "slowest_s": 30,
        "left_behind": 0,
        "worker_growth_mb": 50,
        "decoder_peak_mb": 300,
    },
)
