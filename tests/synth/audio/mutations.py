"""Real small files, and what a fuzzer does to them: bits, bytes, runs, lengths, pieces of one file in another."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

from .uploads import file_of, id3, spoken

MOST_CHANGES = 6
# Values at which sizes and rates turn over.
EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
# Most of what a decoder believes stands at the start.
HEADER = 512


def _seed(container: str, subtype: str | None = None, *, channels: int = 1, tagged: bool = False) -> bytes:
    data = file_of(spoken(3.2, 16000), container, subtype, channels=channels)
    return id3(b"TIT2" + bytes(60)) + data if tagged else data


SEEDS: dict[str, Callable[[], bytes]] = {
    "wav": cache(lambda: _seed("WAV")),
    "float wav": cache(lambda: _seed("WAV", "FLOAT", channels=2)),
    "rf64": cache(lambda: _seed("RF64")),
    "flac": cache(lambda: _seed("FLAC", "PCM_24", channels=2)),
    "vorbis": cache(lambda: _seed("OGG", "VORBIS")),
    "opus": cache(lambda: _seed("OGG", "OPUS")),
    "mp3": cache(lambda: _seed("MP3", tagged=True)),
}


def mutated(data: bytes, seed: int) -> bytes:
    """The same for the same seed."""
    choose = random.Random(seed)
    changed = bytearray(data)
    for _ in range(choose.randint(1, MOST_CHANGES)):
        choose.choice(CHANGES)(changed, choose)
    return bytes(changed)


def _place(data: bytearray, choose: random.Random) -> int:
    end = len(data) if choose.random() < 0.4 else min(HEADER, len(data))
    return choose.randrange(max(1, end))


def _flip(data: bytearray, choose: random.Random) -> None:
    at = _place(data, choose)
    data[at : at + 1] = bytes([data[at] ^ 1 << choose.randrange(8)]) if at < len(data) else b""


def _overwrite(data: bytearray, choose: random.Random) -> None:
    at = _place(data, choose)
    length = choose.choice((1, 2, 4, 16, 200))
    data[at : at + length] = choose.randbytes(length)


def _edge(data: bytearray, choose: random.Random) -> None:
    at, size, order = _place(data, choose), choose.choice((1, 2, 4)), choose.choice(("little", "big"))
    data[at : at + size] = (choose.choice(EDGES) & (1 << 8 * size) - 1).to_bytes(size, order)  # type: ignore[arg-type]


def _cut(data: bytearray, choose: random.Random) -> None:
    del data[_place(data, choose) :]


def _remove(data: bytearray, choose: random.Random) -> None:
    at = _place(data, choose)
    del data[at : at + choose.choice((1, 3, 64, 1000))]


def _repeat(data: bytearray, choose: random.Random) -> None:
    at = _place(data, choose)
    data[at:at] = data[at : at + choose.choice((1, 27, 400))] * choose.choice((1, 2, 50))


def _graft(data: bytearray, choose: random.Random) -> None:
    other = SEEDS[choose.choice(tuple(SEEDS))]()
    start = choose.randrange(len(other))
    data[_place(data, choose) :] = other[start : start + 20_000]


CHANGES = (_flip, _flip, _overwrite, _edge, _edge, _cut, _remove, _repeat, _graft)
