"""U1-api: the same uploads by `POST /v1/voices`: each is refused as a problem or becomes a voice, and all live on."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from tests.faults.asking import number, post
from tests.faults.ground import dead, started
from tests.faults.hostile_files import ACCEPTED, Hostile
from tests.faults.hostile_uploads import corpus
from tests.faults.memory import resident_mib
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.recordings import CONSENT

AT_WORK = 4  # uploads that wait for their end at a time
SECONDS_OF_ONE = 30.0


@dataclass
class Posted:
    """What became of one upload: `answer` is `accepted`, the code of its refusal, or what was no answer to it."""

    file: Hostile
    answer: str = ""
    href: str = ""
    seconds: float = 0.0


def play(make_stack: MakeStack, *, seed: int, changed: int) -> Figures:
    stack = started(make_stack, {}, engine_workers=1)
    api = next(child for child in stack.children if child.port)
    before = resident_mib(api.pid)
    files = list(corpus(seed, changed))
    with stack.client() as client:
        posted = [
            item
            for some in (files[start : start + AT_WORK] for start in range(0, len(files), AT_WORK))
            for item in _posted(client, some)
        ]
        after = post(client, {"text": f"After the uploads of seed {seed}.", "wait": 60})
    wrong = [item for item in posted if item.answer not in item.file.answers and not _refused_at_the_door(item)]
    for item in wrong:
        print(f"U1-api: {item.file.name} was answered {item.answer}", file=sys.stderr)
    return {
        "uploads": len(posted),
        "accepted": sum(item.answer == ACCEPTED for item in posted),
        "wrong_answers": len(wrong),
        "slowest_s": max(item.seconds for item in posted),
        "dead_processes": dead(stack),
        "voices_open": number(stack, "SELECT count(*) FROM synth_clonedvoice WHERE ended_at IS NULL"),
        "not_spoken_after": int(after.status != 200),
        "api_growth_mb": resident_mib(api.pid) - before,
    }


def _posted(client: httpx.Client, files: Sequence[Hostile]) -> list[Posted]:
    """Some at a time: each sent, then each asked after until it has an end."""
    began = time.monotonic()
    posted = [_post(client, file) for file in files]
    for item in posted:
        while item.href and not item.answer and time.monotonic() - began < SECONDS_OF_ONE * len(files):
            item.answer = _end(client.get(item.href))
            if not item.answer:
                time.sleep(0.05)
        item.seconds = item.seconds or time.monotonic() - began
        item.answer = item.answer or "no end"
        if item.href:
            client.delete(item.href)
    return posted


def _post(client: httpx.Client, file: Hostile) -> Posted:
    began = time.monotonic()
    form = {"name": "somebody", "language": "en", "engine": "counting", "consent": json.dumps(CONSENT)}
    answer = client.post("/v1/voices", files={"file": ("upload.wav", file.data)}, data=form, timeout=SECONDS_OF_ONE)
    if answer.status_code in {200, 202}:
        return Posted(file, href=answer.json()["href"])
    refused = answer.status_code < 500 and answer.headers["Content-Type"].startswith("application/problem+json")
    told = f"door: {answer.json()['code']}" if refused else f"status {answer.status_code}"
    return Posted(file, told, seconds=time.monotonic() - began)


def _refused_at_the_door(item: Posted) -> bool:
    return item.answer.startswith("door: ") and item.file.answers != {ACCEPTED}


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
