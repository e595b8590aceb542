"""What an upload really is, by its first bytes; its name and declared type are never asked. Used by reading.py."""

from __future__ import annotations

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
MPEG_VERSION_1 = 3
LAYER_3 = 1
# kbit/s by the index in the header, for MPEG 1 and for the lower rates of 2 and 2.5; 0 and 15 are no fixed rate.
BITRATES_1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0)
BITRATES_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0)
RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}


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
    return "mp3" if _is_mp3(data) else None


def _is_mp3(data: bytes) -> bool:
    """Two MPEG layer 3 frames, one right behind the other: one header alone is only 11 fixed bits."""
    length = _frame_length(data[:4])
    return bool(length) and bool(_frame_length(data[length : length + 4]))


def _frame_length(header: bytes) -> int:
    """Of an MPEG layer 3 frame in bytes; 0 for any other four bytes."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return 0
    version, layer = header[1] >> 3 & 3, header[1] >> 1 & 3
    rate_index = header[2] >> 2 & 3
    if layer != LAYER_3 or version not in RATES or rate_index == 3:
        return 0
    first = version == MPEG_VERSION_1
    kbits = (BITRATES_1 if first else BITRATES_2)[header[2] >> 4]
    padding = header[2] >> 1 & 1
    return (144_000 if first else 72_000) * kbits // RATES[version][rate_index] + padding if kbits else 0
