"""What an upload really is, by its first bytes; its name and declared type are never asked. Used by reading.py."""

from __future__ import annotations

from synth.audio import mpeg

MAX_TAGS = 4
# The bytes at an offset that give a container away. Those that are not read here are named in the refusal.
MAGIC = (
    (0, b"fLaC", "flac"),
    (0, b"OggS", "ogg"),
    (4, b"ftyp", "m4a"),
    (8, b"AIFF", "aiff"),
    (8, b"AIFC", "aiff"),
    (0, b"\x1aE\xdf\xa3", "webm"),
    (0, b"0&\xb2u\x8ef\xcf\x11", "wma"),
    (0, b"#!AMR", "amr"),
    (0, b"caff", "caf"),
    (0, b".snd", "au"),
    (0, b"MThd", "midi"),
    (0, b"MAC ", "ape"),
    (0, b"wvpk", "wavpack"),
    (0, b"riff\x2e\x91\xcf\x11", "w64"),
    (0, b"DSD ", "dsf"),
)


def without_tags(data: bytes) -> bytes:
    """The file after the ID3v2 tags in front, which taggers put before any container, not only MP3."""
    start = 0
    for _ in range(MAX_TAGS):
        if data[start : start + 3] != b"ID3" or len(data) < start + 10:
            break
        size = 0
        for byte in data[start + 6 : start + 10]:
            size = size << 7 | byte & 0x7F
        footer = 10 if data[start + 5] & 0x10 else 0
        start += 10 + size + footer
    return data[start:] if start else data


def sniff(data: bytes) -> str | None:
    """The container's name, or None for what is no audio; `data` is without tags."""
    if data[:4] in (b"RIFF", b"RF64") and data[8:12] == b"WAVE":
        return "wav"
    for offset, magic, name in MAGIC:
        if data[offset : offset + len(magic)] == magic:
            return name
    if data[:1] == b"\xff" and data[1:2] in (b"\xf0", b"\xf1", b"\xf8", b"\xf9"):
        return "aac"
    return "mp3" if mpeg.starts_frame(data) else None
