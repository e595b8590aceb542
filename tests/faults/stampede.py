"""S1: many identical misses at one moment, over several web processes."""

from __future__ import annotations

from tests.faults.asking import crowd, number, percentile
from tests.faults.ground import started
from tests.faults.scoreboard import Figures, MakeStack, Row


def play(make_stack: MakeStack, *, seed: int, requests: int, apis: int, run: float) -> Figures:
    stack = started(make_stack, {"COUNTING_SECONDS": str(run), "REFRAIN_MAX_WAITERS": str(requests)}, apis=apis)
    crowd(stack, [{"text": "The processes are warm.", "wait": 30}] * apis)
    before = len(stack.runs())
    answers = crowd(stack, [{"text": f"Everybody says this, seed {seed}.", "wait": 60}] * requests)
    seconds = [answer.seconds for answer in answers]
    return {
        "requests": requests,
        "not_ok": sum(answer.status != 200 for answer in answers),
        "runs_beyond_one": len(stack.runs()) - before - 1,
        "different_sounds": len({answer.sha256 for answer in answers}) - 1,
        "renderings_beyond_one": number(stack, "SELECT count(*) FROM synth_rendering") - 2,
        "p50_beyond_run": percentile(seconds, 0.5) - run,
        "p99_beyond_run": percentile(seconds, 0.99) - run,
    }


ROW = Row(
    name="S1",
    title="identical concurrent misses over several web processes",
    play=play,
    short={"requests": 60, "apis": 2, "run": 0.5},
    long={"requests": 200, "apis": 4, "run": 1.0},
    limits={"not_ok": 0, "runs_beyond_one": 0, "different_sounds": 0, "renderings_beyond_one": 0},
    long_limits={"p99_beyond_run": 0.5},
)
