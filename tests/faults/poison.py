"""R7: one job whose run kills the process that runs it, among good ones."""

from __future__ import annotations

from tests.engines.counting import CRASH
from tests.faults.asking import crowd, jobs_in, number, open_jobs, runs_of, wait_until_all_end
from tests.faults.ground import started
from tests.faults.scoreboard import Figures, MakeStack, Row


def play(make_stack: MakeStack, *, seed: int, good: int, lease: float) -> Figures:
    stack = started(make_stack, {"REFRAIN_LEASE": str(lease), "REFRAIN_HEARTBEAT": str(lease / 3)})
    poison = f"Swallow {CRASH} at seed {seed}."
    texts = [f"Good job {number} of seed {seed}." for number in range(good)]
    texts.insert(good // 2, poison)
    crowd(stack, [{"text": text, "wait": 0} for text in texts])
    wait_until_all_end(stack, good + 1, seconds=4 * lease + 90)
    return {
        "poison_not_failed": 1 - jobs_in(stack, "failed"),
        "poison_runs": runs_of(stack, poison),
        "poison_wrong_error": 1 - number(stack, "SELECT count(*) FROM synth_job WHERE error_code = 'worker_lost'"),
        "good_lost": good - jobs_in(stack, "succeeded"),
        "good_extra_runs": len(stack.runs()) - runs_of(stack, poison) - good,
        "stuck": open_jobs(stack),
    }


ROW = Row(
    name="R7",
    title="poison job that kills its process, among good ones",
    play=play,
    short={"good": 10, "lease": 1.5},
    long={"good": 50, "lease": 5.0},
    limits={
        "poison_not_failed": 0,
        "poison_runs": 3,
        "poison_wrong_error": 0,
        "good_lost": 0,
        "good_extra_runs": 0,
        "stuck": 0,
    },
)
