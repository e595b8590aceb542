"""Waits until the engines can speak, then prints what a new user needs: addresses, key, password, first requests."""

from __future__ import annotations

import asyncio
import json
import shlex
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dotenv import dotenv_values

from ttsproject.launch.environment import RunEnvironment

# A model is read from the disk, then warmed up.
ENGINE_SECONDS = 180.0
POLL_SECONDS = 0.3
# A problem that is told earlier may be one of the last start.
PROBLEM_SECONDS = 20.0

SENTENCES = (
    ("Chinese", "zh", "你好，世界。今天天气很好，我们去公园散步吧。"),
    ("English", "en", "Hello, world. Every sentence is spoken once, and remembered."),
    ("Japanese", "ja", "こんにちは、世界。今日はとても良い天気ですね。"),
)


@dataclass(frozen=True)
class Engines:
    """What `GET /v1/engines` says: names of those that can speak, and why others cannot."""

    available: frozenset[str]
    problems: Mapping[str, str]


def credentials(run: RunEnvironment) -> dict[str, str]:
    """The lines of var/demo.env."""
    return {name: value or "" for name, value in dotenv_values(run.demo_file).items()}


async def wait_for_engines(run: RunEnvironment) -> Engines:
    """Until every engine of this start can speak or says why not; what is known then, or at the deadline."""
    token = credentials(run)["REFRAIN_API_KEY"]
    now = asyncio.get_running_loop().time
    started, since = now(), datetime.now(UTC)
    while True:
        engines = await asyncio.to_thread(ask, run.url, token, since=since)
        missing = set(run.engines) - engines.available
        if now() - started > PROBLEM_SECONDS:
            missing -= set(engines.problems)
        if not missing or now() - started > ENGINE_SECONDS:
            return engines
        await asyncio.sleep(POLL_SECONDS)


def ask(url: str, token: str, *, since: datetime) -> Engines:
    """Only what a worker said since then: cards of an earlier start are still there. None while the API is not up."""
    request = urllib.request.Request(f"{url}/v1/engines", headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=2) as answer:  # noqa: S310 - the scheme is http, see above
            listed = json.load(answer)["results"]
    except (OSError, ValueError, KeyError):
        return Engines(frozenset(), {})
    # Times are told in whole seconds.
    fresh = since - timedelta(seconds=1)
    available = frozenset(engine["name"] for engine in listed if engine["available"] and _seen(engine) >= fresh)
    return Engines(available, {engine["name"]: engine["problem"] for engine in listed if engine["problem"]})


def _seen(engine: Mapping[str, str]) -> datetime:
    return datetime.fromisoformat(engine["seen_at"])


def text(run: RunEnvironment, engines: Engines) -> str:
    known = credentials(run)
    lines = ["", f"Refrain is ready at {known['REFRAIN_URL']}", ""]
    lines += _what_is_missing(run, engines)
    password = known["REFRAIN_ADMIN_PASSWORD"] or "(yours; `make manage ARGS='changepassword ...'` sets a new one)"
    lines += [
        f"  API         {known['REFRAIN_URL']}/docs/",
        f"  Admin       {known['REFRAIN_URL']}/admin/",
        f"  User        {known['REFRAIN_ADMIN_USER']}",
        f"  Password    {password}",
        f"  API key     {known['REFRAIN_API_KEY']}",
        f"  All this is in {run.demo_file}",
    ]
    for language, code, sentence in SENTENCES:
        body = {"text": sentence, "wait": 30, "delivery": "binary"}
        lines += ["", f"Say it in {language} (run it twice: the second time comes from the cache):"]
        lines += [curl(known, body, "--output", f"{code}.mp3")]
    lines += ["", "The same with an address instead of the bytes:"]
    lines += [curl(known, {"text": SENTENCES[0][2], "wait": 30}), ""]
    return "\n".join(lines)


def curl(known: Mapping[str, str], body: Mapping[str, object], *arguments: str) -> str:
    words = ["curl", "-sS", f"{known['REFRAIN_URL']}/v1/speech"]
    words += ["-H", f"Authorization: Bearer {known['REFRAIN_API_KEY']}", "-H", "Content-Type: application/json"]
    return shlex.join([*words, "-d", json.dumps(body, ensure_ascii=False), *arguments])


def _what_is_missing(run: RunEnvironment, engines: Engines) -> list[str]:
    lines = []
    for name in run.engines:
        if name not in engines.available:
            reason = engines.problems.get(name, f"it said nothing within {ENGINE_SECONDS:.0f} s; see its lines above")
            lines.append(f"  The engine {name} cannot speak: {reason}")
    return [*lines, ""] if lines else []
