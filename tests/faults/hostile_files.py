"""The corpus of row U1: files that are no honest recording, each with what may be said to it."""

from __future__ import annotations

import gzip
import io
import random
import struct
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from synth.audio.references import PASSING, REFUSALS
from tests.synth.audio.bombs import silent_flac, silent_opus
from tests.synth.audio.mutations import SEEDS, mutated
from tests.synth.audio.uploads import encoded, id3, wav

ACCEPTED = "accepted"
# What the file itself may be told. That the machine had no time is no answer to a file.
ANY = frozenset(REFUSALS) - PASSING | {ACCEPTED}
REFUSED = ANY - {ACCEPTED}
MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Hostile:
    """`answers` are the codes of refusal, and `accepted`, that are right."""

    name: str
    data: bytes
    answers: frozenset[str] = REFUSED


def wrong_answers(row: str, told: Iterable[tuple[Hostile, str]]) -> int:
    """How many files were told what is not right for them; each is named on standard error."""
    wrong = [(file, answer) for file, answer in told if answer not in file.answers]
    for file, answer in wrong:
        print(f"{row}: {file.name} was answered {answer}", file=sys.stderr)
    return len(wrong)


def honest() -> Iterator[Hostile]:
    """Real recordings, so that refusing everything is no way to pass."""
    for name, seed in SEEDS.items():
        yield Hostile(f"honest {name}", seed(), frozenset({ACCEPTED}))


def crafted() -> Iterator[Hostile]:
    yield from _no_audio()
    yield from _forged_wavs()
    yield from _forged_others()
    yield from _bombs()
    yield from _polyglots()
    for name, seed in SEEDS.items():
        whole = seed()
        for share in (0.001, 0.01, 0.3, 0.9):
            yield Hostile(f"{name} cut at {share}", whole[: int(share * len(whole))])


def mutations(count: int, *, seed: int) -> Iterator[Hostile]:
    choose, names = random.Random(seed), tuple(SEEDS)
    for number in range(count):
        name, change = names[number % len(names)], choose.getrandbits(32)
        yield Hostile(f"{name} mutated by {change}", mutated(SEEDS[name](), change), ANY)


def _no_audio() -> Iterator[Hostile]:
    noise = random.Random(1).randbytes(200_000)
    for name, data in {
        "0 bytes": b"",
        "1 byte": b"\xff",
        "zeros": bytes(100_000),
        "ones": b"\xff" * 100_000,
        "random bytes": noise,
        "a page": b"<html><script>alert(1)</script></html>" * 50,
        "json": b'{"audio": "' + b"A" * 10_000 + b'"}',
        "a program": b"\x7fELF\x02\x01\x01" + noise,
        "a picture": b"\xff\xd8\xff\xe0\x00\x10JFIF" + noise,
        "a zip": _zip(),
        "a gzip bomb": gzip.compress(bytes(10 * MEGABYTE)),
        "a playlist": b"#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1/secret\n",
        "a concat script": b"ffconcat version 1.0\nfile /etc/passwd\n",
        "a video of a web browser": b"\x1aE\xdf\xa3" + noise,
        "too many bytes": SEEDS["wav"]() + bytes(21 * MEGABYTE),
        "raw samples": np.arange(100_000, dtype="<i2").tobytes(),
    }.items():
        yield Hostile(name, data)


def _forged_wavs() -> Iterator[Hostile]:
    samples = SEEDS["wav"]()[44:]
    for rate in (0, 1, 7999, 192_001, 2**31 - 1, 2**32 - 1):
        yield Hostile(f"wav of {rate} Hz", wav(samples, rate=rate))
    for channels in (0, 3, 255, 65535):
        yield Hostile(f"wav of {channels} channels", wav(samples, channels=channels))
    for bits in (0, 1, 7, 33, 64, 65535 // 8 * 8):
        yield Hostile(f"wav of {bits} bits", wav(samples, bits=bits), ANY)
    for said in (1, 2**31 - 2, 2**32 - 2, 2**32 - 1):
        yield Hostile(f"wav that says {said} bytes", wav(samples, said=said), ANY)
    whole = SEEDS["wav"]()
    yield Hostile("wav with a chunk of 4 GB", whole[:36] + b"LIST" + b"\xff" * 4 + whole[36:], ANY)
    yield Hostile("wav of a thousand chunks", whole[:36] + (b"junk" + bytes(4)) * 100_000 + whole[36:], ANY)
    yield Hostile("wav without samples", wav(b""))
    yield Hostile("wav full of NaN", encoded(np.full(64_000, np.nan), 16000, "WAV", "FLOAT"))
    yield Hostile("wav of 1e38", encoded(np.full(64_000, 1e38), 16000, "WAV", "FLOAT"))


def _forged_others() -> Iterator[Hostile]:
    flac = bytearray(SEEDS["flac"]())
    for name, at, value in (("rate", 18, b"\x9f\xff\xf5"), ("length", 22, b"\xff" * 4), ("blocks", 8, b"\xff" * 4)):
        forged = flac.copy()
        forged[at : at + len(value)] = value
        yield Hostile(f"flac with a forged {name}", bytes(forged), ANY)
    picture = b"\x06\xff\xff\xff" + struct.pack(">II", 3, 0x7FFFFFFF)
    yield Hostile("flac with a picture of 16 MB that is not there", bytes(flac[:42]) + picture + bytes(flac[42:]))
    comment = b"\x04\x00\x00\x10" + struct.pack("<II", 4, 0xFFFFFFFF) + bytes(8)
    yield Hostile("flac with four billion comments", bytes(flac[:42]) + comment + bytes(flac[42:]), ANY)
    mp3 = bytearray(SEEDS["mp3"]())
    at = max(mp3.find(b"Xing"), mp3.find(b"Info"))
    mp3[at + 8 : at + 12] = b"\x7f\xff\xff\xff"
    yield Hostile("mp3 that says two billion frames", bytes(mp3))
    yield Hostile("mp3 behind a tag of 256 MB", b"ID3\x03\0\0\x7f\x7f\x7f\x7f" + SEEDS["mp3"]())
    yield Hostile("mp3 behind a thousand tags", id3(b"") * 1000 + SEEDS["mp3"]())
    yield Hostile("mp3 header alone, repeated", b"\xff\xfb\x90\x00" * 50_000)
    yield Hostile("mp3 of one frame", SEEDS["mp3"]()[70:700])
    yield Hostile("ogg page without packets", b"OggS" + bytes(23) * 4000)


def _bombs() -> Iterator[Hostile]:
    bomb = frozenset({"bomb"})
    yield Hostile("10 h of silence in 64 KB of flac", silent_flac(hours=10), bomb)
    yield Hostile("10 days of silence in flac", silent_flac(hours=240), bomb)
    yield Hostile("10 h of silence in ogg opus", silent_opus(hours=10), bomb)
    yield Hostile("20 min of silence in flac", silent_flac(hours=1 / 3), frozenset({"too_long"}))
    yield Hostile("flac of 8 s that says 100 days", silent_flac(hours=0.003, declared=2**36 - 1))
    yield Hostile("flac of unknown length, of 10 h", silent_flac(hours=10, declared=0))
    yield Hostile("ogg of a second that says 1000 h", silent_opus(hours=0.0003, declared=48000 * 3_600_000))
    yield Hostile("ogg that says a negative time", silent_opus(hours=0.003, declared=2**64 - 1))


def _polyglots() -> Iterator[Hostile]:
    whole = SEEDS["wav"]()
    yield Hostile("wav with a zip behind it", whole + _zip(), ANY)
    yield Hostile("wav with a page behind it", whole + b"<script>alert(1)</script>", ANY)
    yield Hostile("gif in front of mp3", b"GIF89a" + SEEDS["mp3"]())
    yield Hostile("pdf in front of mp3", b"%PDF-1.7\n" + SEEDS["mp3"]())
    yield Hostile("wav head on flac", whole[:44] + SEEDS["flac"]())
    yield Hostile("flac head on wav", b"fLaC" + whole)
    yield Hostile("ogg head on mp3", b"OggS" + SEEDS["mp3"]())
    yield Hostile("mp3 in a wav", whole[:20] + b"\x55\x00" + whole[22:44] + SEEDS["mp3"](), ANY)
    yield Hostile("tag in front of a zip", id3(b"TIT2") + _zip())
    yield Hostile("avi", whole.replace(b"WAVE", b"AVI ", 1))
    yield Hostile("m4a of nothing", b"\0\0\0\x20ftypM4A " + bytes(5000))
    yield Hostile("m4a that points to a file of ours", _mov_elsewhere(b"/etc/passwd"))


def _zip() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../x.wav", bytes(MEGABYTE))
    return target.getvalue()


def _mov_elsewhere(path: bytes) -> bytes:
    """A movie whose samples lie in another file, by a data reference."""
    reference = _box(b"url ", bytes(4) + b"file://" + path + b"\0")
    data = _box(b"dinf", _box(b"dref", bytes(4) + struct.pack(">I", 1) + reference))
    track = _box(b"trak", _box(b"mdia", _box(b"minf", data)))
    return _box(b"ftyp", b"M4A \0\0\0\0M4A ") + _box(b"moov", _box(b"mvhd", bytes(100)) + track)


def _box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + name + content
