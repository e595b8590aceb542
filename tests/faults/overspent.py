"""T2q: fifty clients at once ask for more than two quotas of characters leave; an engine worker is killed meanwhile.

Beyond the quota of what engines speak only new texts are refused; known ones are, beyond that of what is asked.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

from tests.faults.asking import Answer, number, send, wait_until_all_end
from tests.faults.scoreboard import Figures, MakeStack, Row
from tests.stack import Stack

CLIENTS = 50
APIS = 2
PATIENCE = 120.0
LONGEST = 60


def play(make_stack: MakeStack, *, seed: int, texts: int, asked: int, spoken: int, run: float) -> Figures:
    settings = {"REFRAIN_CHARACTERS_PER_DAY": asked, "REFRAIN_SYNTHESIS_PER_DAY": spoken, "COUNTING_SECONDS": run}
    settings |= {"REFRAIN_LEASE": 3, "REFRAIN_HEARTBEAT": 1}
    stack = make_stack(env={name: str(value) for name, value in settings.items()})
    for _ in range(APIS):
        stack.api()
    stack.io_worker()
    stack.beat()
    victim, *_ = stack.engine_worker(2)
    stack.wait_for_engines()
    dice = random.Random(seed)
    new = [_text(dice, at) for at in range(texts)]
    killer = threading.Timer(1.0, stack.kill, [victim])
    killer.start()
    first = _ask(stack, new)
    killer.join()
    stack.revive(victim)
    accepted = [text for text, answer in zip(new, first, strict=True) if answer.status in {200, 202}]
    wait_until_all_end(stack, len(accepted), seconds=PATIENCE)
    known = accepted * (1 + asked // max(1, sum(map(len, accepted))))
    second = _ask(stack, known)
    charged = sum(map(len, accepted)) + sum(
        len(text) for text, answer in zip(known, second, strict=True) if answer.status in {200, 202}
    )
    settled = number(stack, "SELECT coalesce(sum(synthesised), 0) FROM tenants_usageday")
    said = sum(len(str(text)) for text in {run["text"] for run in stack.runs()})
    refused = [answer for answer in (*first, *second) if answer.status == 429]
    return {
        "asked_overshoot_percent": 100 * max(0, charged - asked) / asked,
        "spoken_overshoot_percent": 100 * max(0, said - spoken) / spoken,
        "asked_left": max(0, asked - charged),
        "spoken_left": max(0, spoken - settled),
        "spoken_and_not_charged": abs(said - settled),
        "refused_otherwise": sum(answer.status not in {200, 202, 429} for answer in (*first, *second)),
        "refused_for_another_reason": sum(answer.body["code"] != "quota_exceeded" for answer in refused),
        "known_ones_refused_too_early": sum(
            answer.body["quota"] != "characters_per_day" for answer in second if answer.status == 429
        ),
    }


def _text(dice: random.Random, at: int) -> str:
    """One sentence, of any length that the quotas do not divide by."""
    words = "".join(dice.choice("abcdefg ") for _ in range(dice.randrange(10, LONGEST - 20)))
    return " ".join(f"Text {at} {words}".split()) + "."


def _ask(stack: Stack, texts: Sequence[str]) -> list[Answer]:
    """Each client asks for its share, one after the other."""
    doors = [child.port for child in stack.children if child.port and child.alive]
    headers = {"Authorization": f"Bearer {stack.seeded.owner}", "Content-Type": "application/json"}
    answers: list[Answer] = [Answer(0, {}, 0.0)] * len(texts)
    start = threading.Barrier(CLIENTS)

    def ask(client: int) -> None:
        with closing(HTTPConnection("127.0.0.1", doors[client % len(doors)], timeout=PATIENCE)) as connection:
            start.wait(PATIENCE)
            for at in range(client, len(texts), CLIENTS):
                body: dict[str, Any] = {"text": texts[at], "wait": 0}
                answers[at] = send(connection, json.dumps(body).encode(), headers)

    threads = [threading.Thread(target=ask, args=(client,), daemon=True) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    return answers


ROW = Row(
    name="T2q",
    title="fifty clients at once beyond the quotas of characters",
    play=play,
    short={"texts": 150, "asked": 6_000, "spoken": 2_000, "run": 0.05},
    long={"texts": 1_000, "asked": 40_000, "spoken": 15_000, "run": 0.05},
    limits={
        "asked_overshoot_percent": 1,
        "spoken_overshoot_percent": 1,
        "asked_left": LONGEST,
        "spoken_left": LONGEST,
        "spoken_and_not_charged": 0,
        "refused_otherwise": 0,
        "refused_for_another_reason": 0,
        "known_ones_refused_too_early": 0,
    },
)
