"""U1-api: the same uploads by `POST /v1/voices`: each is refused as a problem or becomes a voice, and all live on."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from tests.faults.asking import apis_of, comes_true, number, post
from tests.faults.ground import dead, started
from tests.faults.hostile_files import ACCEPTED, Hostile, wrong_answers
from tests.faults.hostile_uploads import corpus
from tests.faults.memory import resident_mib
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.recordings import CONSENT
from tests.stack import Stack

AT_WORK = 4  # uploads that wait for their end at a time
SECONDS_OF_ONE = 30.0
# Refused by the API itself, before a worker has read it: for what is wrong with the file, and nothing else.
DOOR = "door: "
OF_A_FILE = {413, 422}


@dataclass
class Posted:
    """What became of one upload: `answer` is `accepted`, the code of its refusal, or what was no answer to it."""

    file: Hostile
    sent_at: float
    answer: str = "no end"
    href: str = ""
    seconds: float = 0.0

    def ends(self, answer: str) -> None:
        self.answer, self.seconds = answer, time.monotonic() - self.sent_at


def play(make_stack: MakeStack, *, seed: int, changed: int) -> Figures:
    stack = started(make_stack, {}, engine_workers=1)
    (api,) = apis_of(stack)
    before = resident_mib(api.pid)
    files = list(corpus(seed, changed))
    posted: list[Posted] = []
    with stack.client() as client:
        for start in range(0, len(files), AT_WORK):
            posted += _posted(stack, client, files[start : start + AT_WORK])
        after = post(client, {"text": f"After the uploads of seed {seed}.", "wait": 60})
    judged = ((item.file, item.answer) for item in posted if not _refused_at_the_door(item))
    return {
        "uploads": len(posted),
        "accepted": sum(item.answer == ACCEPTED for item in posted),
        "wrong_answers": wrong_answers("U1-api", judged),
        "slowest_s": max(item.seconds for item in posted),
        "dead_processes": dead(stack),
        "voices_open": number(stack, "SELECT count(*) FROM synth_clonedvoice WHERE ended_at IS NULL"),
        "not_spoken_after": int(after.status != 200),
        "api_growth_mb": resident_mib(api.pid) - before,
    }


def _posted(stack: Stack, client: httpx.Client, files: Sequence[Hostile]) -> list[Posted]:
    """Some at a time: each sent, then all asked after until they have an end."""
    posted = [_post(client, file) for file in files]
    comes_true(stack, lambda: not _open(client, posted), seconds=SECONDS_OF_ONE * len(files))
    for item in posted:
        if item.href:
            client.delete(item.href)
    return posted


def _post(client: httpx.Client, file: Hostile) -> Posted:
    posted = Posted(file, sent_at=time.monotonic())
    form = {"name": uuid.uuid4().hex, "language": "en", "engine": "counting", "consent": json.dumps(CONSENT)}
    answer = client.post("/v1/voices", files={"file": ("upload.wav", file.data)}, data=form, timeout=SECONDS_OF_ONE)
    if answer.status_code in {200, 202}:
        posted.href = answer.json()["href"]
        return posted
    refused = answer.status_code in OF_A_FILE and answer.headers["Content-Type"].startswith("application/problem+json")
    posted.ends(f"{DOOR}{answer.json()['code']}" if refused else f"status {answer.status_code}")
    return posted


def _open(client: httpx.Client, posted: Sequence[Posted]) -> list[Posted]:
    """Those that have no end yet, after a look at each."""
    for item in posted:
        if not item.seconds and (end := _end(client.get(item.href))):
            item.ends(end)
    return [item for item in posted if not item.seconds]


def _refused_at_the_door(item: Posted) -> bool:
    return item.answer.startswith(DOOR) and item.file.answers != {ACCEPTED}


def _end(answer: httpx.Response) -> str:
    """`accepted`, the code of the refusal, or nothing as yet."""
    if answer.status_code != 200:
        return f"status {answer.status_code}"
    told = answer.json()
    return {"ready": ACCEPTED, "refused": (told["reason"] or {}).get("code", "no reason")}.get(told["state"], "")


ROW = Row(
    name="U1-api",
    title="hostile uploads by the API: refused as problems, or voices",
    play=play,
    short={"changed": 5},
    long={"changed": 200},
    limits={
        "wrong_answers": 0,
        "slowest_s": SECONDS_OF_ONE,
        "dead_processes": 0,
        "voices_open": 0,
        "not_spoken_after": 0,
        "api_growth_mb": 50,
    },
    in_tests=False,
)
