"""Scoreboard row E1: what is on disk after a run of encrypted tenants holds neither key, nor text, nor sound in clear.

Searched are all files that Redis (cache and broker in one: RDB uncompressed, AOF), database, storage and every log has.
"""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.recordings import CONSENT, recording
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.any_database]

PLATFORM_KEY, OWN_KEY = bytes(range(1, 33)), bytes(range(201, 233))
HEADER = {"Refrain-Encryption-Key": b64encode(OWN_KEY).decode()}
OWN_TEXT, PLATFORM_TEXT = "密钥只在我手里，谁也听不见。Nobody but me hears this.", "What the platform keeps for me."
TRANSCRIPT = "She said these words herself."
# What begins a sound in each of the forms in which one is made here, and what MP3 encoders leave in theirs.
HEADS = (b"fLaC", b"RIFF", b"OggS", b"LAME", b"Xing", b"Info\x00", b"ftypM4A")
# The counting engine's own record of its runs, and what tests and PIDs leave.
NOT_REFRAINS = {"runs.jsonl"}


def test_dumps_hold_nothing_in_clear(make_stack) -> None:
    key = f"k1:{b64encode(PLATFORM_KEY).decode()}"
    stack: Stack = make_stack(env={"REFRAIN_ENCRYPTION_KEYS": key, "COUNTING_SECONDS": "0"})
    stack.run("set_encryption", "owner", "own")
    stack.api()
    stack.engine_worker()
    stack.io_worker()
    stack.beat()
    stack.wait_for_engines()
    with stack.client() as client:
        answer = client.post("/v1/encryption-keys", json={"key": HEADER["Refrain-Encryption-Key"]})
        assert answer.status_code == 201, answer.text
        heard = [*_speech(client, OWN_TEXT, HEADER), *_voice(stack, client)]
        _refusals(client)
        stack.run("set_encryption", "owner", "platform")
        heard += _speech(client, PLATFORM_TEXT, {})
        stack.wait_until(lambda: client.get("/v1/usage", params={"outcome": "hit"}).json()["results"], what="usage")
    with stack.redis.client() as redis:
        redis.config_set("rdbcompression", "no")
        redis.save()
    # An own key's texts are nowhere; the platform's are in rows alone, where operators search them.
    secrets = [*_spellings(OWN_KEY), *_texts(OWN_TEXT), *_texts(TRANSCRIPT), *_pieces(heard)]
    found = {
        (path.name, secret)
        for path, data in _dumps(stack)
        for secret in (*secrets, *([] if "sqlite" in path.name else _texts(PLATFORM_TEXT)), *_heads(path))
        if secret in data
    }
    assert found == set()
    # That the search finds what is there.
    rows = b"".join(data for path, data in _dumps(stack) if "sqlite" in path.name)
    assert PLATFORM_TEXT.encode() in rows
    searched = [path.as_posix() for path, _ in _dumps(stack)]
    for kind in ("redis/dump.rdb", "appendonly", "audio/", ".sqlite3", "-api.log", "-engine", "-io"):
        assert any(kind in path for path in searched), (kind, searched)


def _speech(client: httpx.Client, text: str, headers: dict[str, str]) -> list[bytes]:
    """Its sound in several forms, each of which is what was asked for."""
    sounds = []
    for form in ("wav", "mp3", "flac"):
        body = {"text": text, "format": form, "delivery": "binary", "wait": 60}
        made, again = (client.post("/v1/speech", json=body, headers=headers) for _ in range(2))
        assert (made.status_code, again.status_code, again.headers["X-Cache"]) == (200, 200, "hit"), made.text
        assert made.content == again.content
        told = client.post("/v1/speech", json={**body, "delivery": "url"}, headers=headers).json()
        assert httpx.get(told["url"], trust_env=False).content == made.content
        sounds.append(made.content)
    return sounds


def _voice(stack: Stack, client: httpx.Client) -> list[bytes]:
    answer = client.post(
        "/v1/voices",
        files={"file": ("anna.wav", recording())},
        data={
            "name": "anna", "language": "en", "engine": "counting", "consent": json.dumps(CONSENT),
            "transcript": TRANSCRIPT,
        },
        headers=HEADER,
    )  # fmt: skip
    assert answer.status_code == 202, answer.text
    href = answer.json()["href"]
    stack.wait_until(lambda: client.get(href).json()["state"] != "pending", seconds=60, what="the voice")
    told = client.get(href).json()
    assert told["state"] == "ready", told
    body = {"text": OWN_TEXT, "voice": answer.json()["id"], "language": "en", "wait": 60}
    spoken = client.post("/v1/speech", json=body, headers=HEADER)
    assert (spoken.status_code, spoken.json().get("voice")) == (200, "anna"), spoken.text
    return [recording()]


def _refusals(client: httpx.Client) -> None:
    """Errors are what logs tell most of."""
    body = {"text": OWN_TEXT}
    assert client.post("/v1/speech", json=body).status_code == 400
    wrong = {"Refrain-Encryption-Key": HEADER["Refrain-Encryption-Key"] + "x"}
    assert client.post("/v1/speech", json=body, headers=wrong).status_code == 403
    assert client.post("/v1/speech", json={**body, "voice": "nobody"}, headers=HEADER).status_code == 422


def _spellings(key: bytes) -> list[bytes]:
    texts = [b64encode(key), urlsafe_b64encode(key), key.hex().encode(), repr(key)[2:-1].encode()]
    return [key, *(text.rstrip(b"=") for text in texts)]


def _texts(text: str) -> Iterator[bytes]:
    """Each part of a text, as it is and as JSON escapes it."""
    for part in text.replace("。", "。|").replace(". ", ".|").split("|"):
        yield part.encode()
        yield json.dumps(part)[1:-1].encode()
        yield part.encode("utf-16-le")
        yield repr(part.encode())[2:-1].encode()


def _pieces(sounds: list[bytes]) -> Iterator[bytes]:
    """Stretches of the sounds themselves; none is so plain that it might be anywhere."""
    for sound in sounds:
        for place in range(200, len(sound) - 64, max(64, len(sound) // 40)):
            piece = sound[place : place + 48]
            if len(set(piece)) > 16:
                yield piece
                yield b64encode(piece)[:60]


def _heads(path: Path) -> tuple[bytes, ...]:
    """Four bytes may be found anywhere by chance: looked for where a sound would begin with them."""
    return HEADS if "audio" in path.parts and path.stat().st_size < 2**20 else ()


def _dumps(stack: Stack) -> Iterator[tuple[Path, Any]]:
    database = Path(stack.seeded.url.removeprefix("sqlite:///"))
    for path in sorted([*stack.directory.rglob("*"), *database.parent.glob(f"{database.name}*")]):
        if path.is_file() and path.name not in NOT_REFRAINS and "static" not in path.parts:
            yield path, path.read_bytes()
