"""The broker is down for a while: requests are accepted, hits are served, and the work is done after its return."""

from __future__ import annotations

import threading
import time

from tests.faults.asking import Answer, crowd, jobs_in, open_jobs, post, wait_until_all_end
from tests.faults.ground import cache_of_its_own, dead, started
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.stack import Stack

PATIENCE = 120.0


def play(make_stack: MakeStack, *, seed: int, away: float, every: float) -> Figures:
    with cache_of_its_own() as cache:
        stack = started(make_stack, {"REDIS_URL": cache.url})
        known = f"Known before, seed {seed}."
        crowd(stack, [{"text": known, "wait": 60}])
        stack.redis.kill()
        hits, accepted = _ask_meanwhile(stack, known, seconds=away, every=every)
        stack.redis.start()
        seconds = wait_until_all_end(stack, len(accepted) + 1, seconds=PATIENCE)
        return {
            "hits": len(hits),
            "accepted": len(accepted),
            "hits_not_served": sum(not _is_hit(answer) for answer in hits),
            "not_accepted": sum(answer.status != 202 for answer in accepted),
            "lost": len(accepted) + 1 - jobs_in(stack, "succeeded"),
            "stuck": open_jobs(stack),
            "extra_runs": len(stack.runs()) - len(accepted) - 1,
            "dead_processes": dead(stack),
            "slowest_hit": max(answer.seconds for answer in hits),
            "slowest_acceptance": max(answer.seconds for answer in accepted),
            "seconds_to_end": seconds,
        }


def _ask_meanwhile(stack: Stack, known: str, *, seconds: float, every: float) -> tuple[list[Answer], list[Answer]]:
    """What was known is asked for, and something new, again and again."""
    hits, accepted = [], []
    ends_at = time.monotonic() + seconds
    with stack.client() as client:
        while time.monotonic() < ends_at:
            hits.append(post(client, {"text": known, "wait": 0}))
            accepted.append(post(client, {"text": f"New {len(accepted)}, after {known}", "wait": 0}))
            threading.Event().wait(every)
    return hits, accepted


def _is_hit(answer: Answer) -> bool:
    return answer.status == 200 and answer.body["cache"] == "hit"


ROW = Row(
    name="broker-away",
    title="the broker down for a while",
    play=play,
    short={"away": 5.0, "every": 0.5},
    long={"away": 60.0, "every": 0.5},
    limits={
        "hits_not_served": 0,
        "not_accepted": 0,
        "lost": 0,
        "stuck": 0,
        "extra_runs": 0,
        "dead_processes": 0,
    },
    long_limits={"slowest_hit": 1, "slowest_acceptance": 2, "seconds_to_end": 60},
)
