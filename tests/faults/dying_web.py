"""R4: the web process dies after the commit and before the bell; the job runs all the same."""

from __future__ import annotations

from tests.faults.asking import crowd, jobs_in, number, open_jobs, wait_until_all_end
from tests.faults.ground import started
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.servers.ports import free_port
from tests.stack import API_THREADS, Child, Stack, answers
from ttsproject.launch import services


def play(make_stack: MakeStack, *, seed: int, deaths: int, apis: int) -> Figures:
    stack = started(make_stack, {"REFRAIN_LEASE": "5"}, engine_workers=1)
    doomed = [dying_api(stack) for _ in range(apis)]
    asked = survived = 0
    while asked < deaths:
        for api in doomed:
            stack.wait_until(lambda api=api: answers(api), seconds=60, what="an API that comes back")
        bodies = [{"text": f"Job {asked + at} of seed {seed}.", "wait": 0} for at in range(apis)]
        survived += sum(answer.status != 0 for answer in crowd(stack, bodies, apis=doomed))
        asked += apis
    wait_until_all_end(stack, asked, seconds=90)
    return {
        "deaths": asked - survived,
        "survived": survived,
        "rows_missing": asked - number(stack, "SELECT count(*) FROM synth_job"),
        "lost": asked - jobs_in(stack, "succeeded"),
        "stuck": open_jobs(stack),
        "extra_runs": len(stack.runs()) - asked,
    }


def dying_api(stack: Stack) -> Child:
    port = free_port()
    command = services.api(port, threads=API_THREADS)
    command[command.index("ttsproject.wsgi:application")] = "tests.faults.dying_wsgi:application"
    child = stack._spawn("dying-api", command, None)
    child.port = port
    return child


ROW = Row(
    name="R4",
    title="web process dies between commit and dispatch",
    play=play,
    short={"deaths": 4, "apis": 2},
    long={"deaths": 50, "apis": 2},
    limits={"survived": 0, "rows_missing": 0, "lost": 0, "stuck": 0, "extra_runs": 0},
)
