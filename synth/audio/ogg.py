"""Gives an Ogg stream a serial number that follows from its content. Used by the opus format.

libsndfile draws the serial at random, so that equal samples would give other bytes, hence another digest, each time.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

PAGE_HEADER = 27
SERIAL_AT = 14
CHECKSUM_AT = 22
SEGMENT_COUNT_AT = 26

_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def with_stable_serial(data: bytes) -> bytes:
    """The same stream of one logical bitstream; the serial is a checksum of everything else.

    Not one constant: players may refuse a chain of streams (files put one after another) that share a serial.
    Raises ValueError when `data` is no whole Ogg stream.
    """
    stream = bytearray(data)
    pages = tuple(_pages(stream))
    for start, _ in pages:
        _put(stream, start + SERIAL_AT, value=0)
        _put(stream, start + CHECKSUM_AT, value=0)
    serial = zlib.crc32(stream)
    for start, end in pages:
        _put(stream, start + SERIAL_AT, value=serial)
        _put(stream, start + CHECKSUM_AT, value=page_checksum(stream[start:end]))
    return bytes(stream)


def page_checksum(page: bytes | bytearray) -> int:
    """Ogg's CRC-32 (RFC 3533) of a page whose checksum field is zero.

    It has zlib's polynomial with the bits taken in the other order, and neither initial nor final complement:
    mirroring the bits lets zlib do the work in C.
    """
    mirrored = zlib.crc32(page.translate(_MIRRORED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int.from_bytes(mirrored.to_bytes(4, "little").translate(_MIRRORED), "big")


def _pages(stream: bytearray) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(stream):
        if stream[start : start + 4] != b"OggS" or len(stream) < start + PAGE_HEADER:
            raise ValueError(f"no Ogg page at byte {start}")
        body = start + PAGE_HEADER + stream[start + SEGMENT_COUNT_AT]
        end = body + sum(stream[start + PAGE_HEADER : body])
        if end > len(stream):
            raise ValueError(f"the Ogg page at byte {start} is cut short")
        yield start, end
        start = end


def _put(stream: bytearray, at: int, *, value: int) -> None:
    struct.pack_into("<I", stream, at, value)
