"""Small files that unpack to hours, made by hand: encoders take minutes for them."""

from __future__ import annotations

import struct

from fastcrc import crc8, crc16

from synth.audio.ogg import page_checksum

FLAC_BLOCK = 65535
FLAC_RATE = 8000


def silent_flac(*, hours: float, declared: int | None = None) -> bytes:
    """FLAC of 8 kHz, 16 bits, mono, in which 8 s of zeros take 14 bytes. `declared`: its samples as the header says."""
    frames = max(1, int(hours * 3600 * FLAC_RATE / FLAC_BLOCK))
    samples = frames * FLAC_BLOCK if declared is None else declared
    packed = FLAC_RATE << 44 | 0 << 41 | 15 << 36 | samples
    information = struct.pack(">HH", FLAC_BLOCK, FLAC_BLOCK) + bytes(6) + packed.to_bytes(8, "big") + bytes(16)
    return b"fLaC\x80\0\0\x22" + information + b"".join(_flac_frame(number) for number in range(frames))


def _flac_frame(number: int) -> bytes:
    # Fixed blocks whose size (16 bits) ends the header; 8 kHz, mono, 16 bits.
    header = b"\xff\xf8\x74\x08" + chr(number).encode("utf-8", "surrogatepass") + struct.pack(">H", FLAC_BLOCK - 1)
    header += bytes([crc8.smbus(header)])
    frame = header + b"\x00\0\0"  # one subframe: the constant 0
    return frame + struct.pack(">H", crc16.umts(frame))


def silent_opus(*, hours: float, declared: int | None = None) -> bytes:
    """Ogg Opus in which 120 ms of nothing take 3 bytes. `declared`: the samples of 48 kHz that the last page tells."""
    head = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 0, 48000, 0, 0)
    tags = b"OpusTags" + struct.pack("<II", 0, 0)
    pages = [_page(0, 0, [head], flags=2), _page(1, 0, [tags])]
    packets = max(1, int(hours * 3600 / 0.120))
    done = 0
    while done < packets:
        count = min(255, packets - done)
        done += count
        last = done == packets
        granule = declared if last and declared is not None else done * 5760
        pages.append(_page(len(pages), granule, [b"\x7b\x06"] * count, flags=4 if last else 0))
    return b"".join(pages)


def _page(number: int, granule: int, packets: list[bytes], *, flags: int = 0) -> bytes:
    lacing = bytes(len(packet) for packet in packets)
    page = struct.pack("<4sBBQIIIB", b"OggS", 0, flags, granule, 7, number, 0, len(lacing)) + lacing + b"".join(packets)
    return page[:22] + struct.pack("<I", page_checksum(page)) + page[26:]
